-- Ids are UUIDs of 16 bytes, moments RFC 3339 in UTC. Rows that were deleted stay, marked by `deleted_at`.

CREATE TABLE generators (
    id             BLOB PRIMARY KEY NOT NULL,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    deleted_at     TEXT,
    name           TEXT NOT NULL,
    description    TEXT,
    last_active_at TEXT,
    is_active      INTEGER NOT NULL,
    is_system      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX unique_generator_name ON generators (name) WHERE deleted_at IS NULL;

CREATE TABLE api_keys (
    id           BLOB PRIMARY KEY NOT NULL,
    short_token  TEXT NOT NULL UNIQUE,
    hash         TEXT NOT NULL,
    role         TEXT NOT NULL,
    generator_id BLOB REFERENCES generators (id),
    created_at   TEXT NOT NULL,
    revoked_at   TEXT
) STRICT;
CREATE INDEX api_keys_of_generator ON api_keys (generator_id);

CREATE TABLE stack_templates (
    id                BLOB PRIMARY KEY NOT NULL,
    created_at        TEXT NOT NULL,
    updated_at        TEXT NOT NULL,
    deleted_at        TEXT,
    generator_id      BLOB REFERENCES generators (id),
    name              TEXT NOT NULL,
    description       TEXT,
    version           INTEGER NOT NULL,
    template_content  TEXT NOT NULL,
    parameters_schema TEXT NOT NULL,
    checksum          TEXT NOT NULL
) STRICT;
-- Nobody's templates are as unique as somebody's: NULL stands as an empty id.
CREATE UNIQUE INDEX unique_template_version ON stack_templates (name, version, COALESCE(generator_id, x''))
    WHERE deleted_at IS NULL;
CREATE INDEX stack_templates_of_generator ON stack_templates (generator_id);

CREATE TABLE template_labels (
    id          BLOB PRIMARY KEY NOT NULL,
    template_id BLOB NOT NULL REFERENCES stack_templates (id),
    label       TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    UNIQUE (template_id, label)
) STRICT;

CREATE TABLE template_annotations (
    id          BLOB PRIMARY KEY NOT NULL,
    template_id BLOB NOT NULL REFERENCES stack_templates (id),
    key         TEXT NOT NULL,
    value       TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    UNIQUE (template_id, key)
) STRICT;

CREATE TABLE stacks (
    id           BLOB PRIMARY KEY NOT NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    deleted_at   TEXT,
    name         TEXT NOT NULL,
    description  TEXT,
    generator_id BLOB NOT NULL REFERENCES generators (id)
) STRICT;
CREATE UNIQUE INDEX unique_stack_name ON stacks (name) WHERE deleted_at IS NULL;
CREATE INDEX stacks_of_generator ON stacks (generator_id);

CREATE TABLE stack_labels (
    id       BLOB PRIMARY KEY NOT NULL,
    stack_id BLOB NOT NULL REFERENCES stacks (id),
    label    TEXT NOT NULL,
    UNIQUE (stack_id, label)
) STRICT;

CREATE TABLE stack_annotations (
    id       BLOB PRIMARY KEY NOT NULL,
    stack_id BLOB NOT NULL REFERENCES stacks (id),
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    UNIQUE (stack_id, key)
) STRICT;

-- AUTOINCREMENT: the number of a row is never given again.
CREATE TABLE deployment_objects (
    sequence_id        INTEGER PRIMARY KEY AUTOINCREMENT,
    id                 BLOB NOT NULL UNIQUE,
    created_at         TEXT NOT NULL,
    updated_at         TEXT NOT NULL,
    deleted_at         TEXT,
    stack_id           BLOB NOT NULL REFERENCES stacks (id),
    yaml_content       TEXT NOT NULL,
    yaml_checksum      TEXT NOT NULL,
    submitted_at       TEXT NOT NULL,
    is_deletion_marker INTEGER NOT NULL
) STRICT;
CREATE INDEX deployment_objects_of_stack ON deployment_objects (stack_id, sequence_id);

-- What an object was rendered from. No column is named like one of the objects': they are read side by side.
CREATE TABLE rendered_deployment_objects (
    record_id            BLOB PRIMARY KEY NOT NULL,
    deployment_object_id BLOB NOT NULL UNIQUE REFERENCES deployment_objects (id),
    template_id          BLOB NOT NULL REFERENCES stack_templates (id),
    template_version     INTEGER NOT NULL,
    template_parameters  TEXT NOT NULL,
    defaults             INTEGER NOT NULL,
    template_checksum    TEXT NOT NULL,
    schema_checksum      TEXT NOT NULL,
    parameters_checksum  TEXT NOT NULL,
    output_checksum      TEXT NOT NULL,
    engine               TEXT NOT NULL,
    rendered_at          TEXT NOT NULL
) STRICT;
CREATE INDEX rendered_deployment_objects_of_template ON rendered_deployment_objects (template_id);

-- Requests that may be sent twice and are carried out once.
CREATE TABLE requests (
    key        TEXT PRIMARY KEY NOT NULL,
    request    TEXT NOT NULL,
    made       BLOB NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX requests_by_age ON requests (created_at);
