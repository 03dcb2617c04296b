-- Rows that were deleted stay, marked by `deleted_at`.

CREATE TABLE generators (
    id             uuid PRIMARY KEY,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deleted_at     timestamptz,
    name           text NOT NULL,
    description    text,
    last_active_at timestamptz,
    is_active      boolean NOT NULL,
    is_system      boolean NOT NULL
);
CREATE UNIQUE INDEX unique_generator_name ON generators (name) WHERE deleted_at IS NULL;

CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    short_token  text NOT NULL UNIQUE,
    hash         text NOT NULL,
    role         text NOT NULL,
    generator_id uuid REFERENCES generators (id),
    created_at   timestamptz NOT NULL,
    revoked_at   timestamptz
);
CREATE INDEX api_keys_of_generator ON api_keys (generator_id);

CREATE TABLE stack_templates (
    id                uuid PRIMARY KEY,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    deleted_at        timestamptz,
    generator_id      uuid REFERENCES generators (id),
    name              text NOT NULL,
    description       text,
    version           integer NOT NULL,
    template_content  text NOT NULL,
    parameters_schema text NOT NULL,
    checksum          text NOT NULL
);
-- Nobody's templates are as unique as somebody's.
CREATE UNIQUE INDEX unique_template_version ON stack_templates (name, version, generator_id) NULLS NOT DISTINCT
    WHERE deleted_at IS NULL;
CREATE INDEX stack_templates_of_generator ON stack_templates (generator_id);

CREATE TABLE template_labels (
    id          uuid PRIMARY KEY,
    template_id uuid NOT NULL REFERENCES stack_templates (id),
    label       text NOT NULL,
    created_at  timestamptz NOT NULL,
    UNIQUE (template_id, label)
);

CREATE TABLE template_annotations (
    id          uuid PRIMARY KEY,
    template_id uuid NOT NULL REFERENCES stack_templates (id),
    key         text NOT NULL,
    value       text NOT NULL,
    created_at  timestamptz NOT NULL,
    UNIQUE (template_id, key)
);

CREATE TABLE stacks (
    id           uuid PRIMARY KEY,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    deleted_at   timestamptz,
    name         text NOT NULL,
    description  text,
    generator_id uuid NOT NULL REFERENCES generators (id)
);
CREATE UNIQUE INDEX unique_stack_name ON stacks (name) WHERE deleted_at IS NULL;
CREATE INDEX stacks_of_generator ON stacks (generator_id);

CREATE TABLE stack_labels (
    id       uuid PRIMARY KEY,
    stack_id uuid NOT NULL REFERENCES stacks (id),
    label    text NOT NULL,
    UNIQUE (stack_id, label)
);

CREATE TABLE stack_annotations (
    id       uuid PRIMARY KEY,
    stack_id uuid NOT NULL REFERENCES stacks (id),
    key      text NOT NULL,
    value    text NOT NULL,
    CONSTRAINT unique_stack_annotation UNIQUE (stack_id, key)
);

CREATE TABLE deployment_objects (
    sequence_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                 uuid NOT NULL UNIQUE,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    deleted_at         timestamptz,
    stack_id           uuid NOT NULL REFERENCES stacks (id),
    yaml_content       text NOT NULL,
    yaml_checksum      text NOT NULL,
    submitted_at       timestamptz NOT NULL,
    is_deletion_marker boolean NOT NULL
);
CREATE INDEX deployment_objects_of_stack ON deployment_objects (stack_id, sequence_id);

-- What an object was rendered from. No column is named like one of the objects': they are read side by side.
CREATE TABLE rendered_deployment_objects (
    record_id            uuid PRIMARY KEY,
    deployment_object_id uuid NOT NULL UNIQUE REFERENCES deployment_objects (id),
    template_id          uuid NOT NULL REFERENCES stack_templates (id),
    template_version     integer NOT NULL,
    template_parameters  text NOT NULL,
    defaults             boolean NOT NULL,
    template_checksum    text NOT NULL,
    schema_checksum      text NOT NULL,
    parameters_checksum  text NOT NULL,
    output_checksum      text NOT NULL,
    engine               text NOT NULL,
    rendered_at          timestamptz NOT NULL
);
CREATE INDEX rendered_deployment_objects_of_template ON rendered_deployment_objects (template_id);

-- Requests that may be sent twice and are carried out once.
CREATE TABLE requests (
    key        text PRIMARY KEY,
    request    text NOT NULL,
    made       uuid NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX requests_by_age ON requests (created_at);
