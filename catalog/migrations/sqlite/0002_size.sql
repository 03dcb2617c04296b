-- Lists, lookups and counts read indexes at any size.

-- No table gets a column: a server of the previous version may still run.

-- The system owns templates as the nil ID, so that one comparison finds the templates of any owner. Names are searched
-- and ordered in lower case (ASCII).
CREATE INDEX live_templates ON stack_templates (id) WHERE deleted_at IS NULL;
CREATE INDEX live_templates_of_owner ON stack_templates (COALESCE(generator_id, x'00000000000000000000000000000000'), id)
    WHERE deleted_at IS NULL;
CREATE INDEX live_templates_named ON stack_templates (name, id) WHERE deleted_at IS NULL;
CREATE INDEX live_templates_of_owner_named ON stack_templates (COALESCE(generator_id, x'00000000000000000000000000000000'), name, id)
    WHERE deleted_at IS NULL;
CREATE INDEX live_template_versions ON stack_templates (COALESCE(generator_id, x'00000000000000000000000000000000'), name, version)
    WHERE deleted_at IS NULL;
CREATE INDEX live_templates_by_name ON stack_templates (lower(name), id) WHERE deleted_at IS NULL;
CREATE INDEX live_templates_of_owner_by_name ON stack_templates
    (COALESCE(generator_id, x'00000000000000000000000000000000'), lower(name), id) WHERE deleted_at IS NULL;
CREATE INDEX deleted_templates ON stack_templates (deleted_at, id) WHERE deleted_at IS NOT NULL;

CREATE INDEX live_generators ON generators (id) WHERE deleted_at IS NULL;
CREATE INDEX deleted_generators ON generators (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX live_stacks ON stacks (id) WHERE deleted_at IS NULL;
CREATE INDEX live_stacks_of_generator ON stacks (generator_id, id) WHERE deleted_at IS NULL;
CREATE INDEX deleted_stacks ON stacks (deleted_at) WHERE deleted_at IS NOT NULL;

-- The index of a stack's objects also sums up their bytes.
DROP INDEX deployment_objects_of_stack;
CREATE INDEX deployment_objects_of_stack ON deployment_objects (stack_id, sequence_id, octet_length(yaml_content));
CREATE INDEX deleted_objects ON deployment_objects (deleted_at) WHERE deleted_at IS NOT NULL;

-- The objects that were rendered from a template, by stack. Triggers keep it, also beside an older version of dropforge.
CREATE TABLE instances (
    owner       BLOB NOT NULL,
    name        TEXT NOT NULL,
    stack_id    BLOB NOT NULL,
    sequence_id INTEGER NOT NULL,
    PRIMARY KEY (owner, name, stack_id, sequence_id)
) STRICT, WITHOUT ROWID;
INSERT INTO instances SELECT COALESCE(t.generator_id, x'00000000000000000000000000000000'), t.name, o.stack_id,
    o.sequence_id FROM rendered_deployment_objects r
    JOIN stack_templates t ON t.id = r.template_id JOIN deployment_objects o ON o.id = r.deployment_object_id;
CREATE TRIGGER record_added AFTER INSERT ON rendered_deployment_objects BEGIN
    INSERT INTO instances SELECT COALESCE(t.generator_id, x'00000000000000000000000000000000'), t.name, o.stack_id,
        o.sequence_id FROM stack_templates t, deployment_objects o
        WHERE t.id = NEW.template_id AND o.id = NEW.deployment_object_id;
END;
CREATE TRIGGER record_deleted AFTER DELETE ON rendered_deployment_objects BEGIN
    DELETE FROM instances WHERE (owner, name, stack_id, sequence_id) IN
        (SELECT COALESCE(t.generator_id, x'00000000000000000000000000000000'), t.name, o.stack_id,
        o.sequence_id FROM stack_templates t, deployment_objects o
        WHERE t.id = OLD.template_id AND o.id = OLD.deployment_object_id);
END;
