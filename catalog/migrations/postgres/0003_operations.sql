-- Names, expiry and use of keys, and the audit trail. These are tables of their own: an older version that runs beside
-- this one has prepared `SELECT * FROM api_keys`, and PostgreSQL refuses a prepared statement whose columns change.

CREATE TABLE key_details (
    key_id       uuid PRIMARY KEY REFERENCES api_keys (id),
    name         text,
    expires_at   timestamptz,
    last_used_at timestamptz
);

-- Changes, in the order of their IDs. Rows refer to nothing, so that they outlive what they tell of.
CREATE TABLE audit_log (
    id           uuid PRIMARY KEY,
    at           timestamptz NOT NULL,
    action       text NOT NULL,
    object_kind  text NOT NULL,
    object_id    uuid NOT NULL,
    object_name  text,
    detail       text,
    role         text,
    key_id       uuid,
    key_name     text,
    generator_id uuid,
    address      text,
    request_id   text
);
CREATE INDEX audit_log_of_object ON audit_log (object_id, id);
