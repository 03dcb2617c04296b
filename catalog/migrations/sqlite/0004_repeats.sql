-- Keys made by a request with an idempotency key are derived from its sender's key and this, so that a repetition of the
-- request gets the same key.
ALTER TABLE requests ADD COLUMN salt TEXT;
