-- Names, expiry and use of keys, and the audit trail. These are tables of their own: an older version that runs beside
-- this one has prepared `SELECT * FROM api_keys`, and PostgreSQL refuses a prepared statement whose columns change.

CREATE TABLE key_details (
    key_id       BLOB PRIMARY KEY NOT NULL REFERENCES api_keys (id),
    name         TEXT,
    expires_at   TEXT,
    last_used_at TEXT
) STRICT;

-- Changes, in the order of their IDs. Rows refer to nothing, so that they outlive what they tell of.
CREATE TABLE audit_log (
    id           BLOB PRIMARY KEY NOT NULL,
    at           TEXT NOT NULL,
    action       TEXT NOT NULL,
    object_kind  TEXT NOT NULL,
    object_id    BLOB NOT NULL,
    object_name  TEXT,
    detail       TEXT,
    role         TEXT,
    key_id       BLOB,
    key_name     TEXT,
    generator_id BLOB,
    address      TEXT,
    request_id   TEXT
) STRICT;
CREATE INDEX audit_log_of_object ON audit_log (object_id, id);
