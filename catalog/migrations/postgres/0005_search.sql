-- A search reads an index alone: with the columns of the expressions and of the condition in it, rows are not fetched.
DROP INDEX IF EXISTS live_templates_by_name, live_templates_of_owner_by_name;
CREATE INDEX searched_templates ON stack_templates ((lower(name COLLATE "C")), id) INCLUDE (name, generator_id, version)
    WHERE deleted_at IS NULL;
CREATE INDEX searched_templates_of_owner ON stack_templates
    ((COALESCE(generator_id, '00000000-0000-0000-0000-000000000000')), (lower(name COLLATE "C")), id)
    INCLUDE (name, generator_id, version) WHERE deleted_at IS NULL;
