"""Drives the catalog with Brokkr's Python clients: `drive.py BASE ADMIN_KEY`.

The generated client parses every response into its types and raises if a status or field differs from Brokkr's
description. Prints `passed` and the number of calls.
"""

import asyncio
import datetime
import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from brokkr import BrokkrClient, BrokkrError
from brokkr_broker_client.api.auth import verify_pak
from brokkr_broker_client.api.deployment_objects import get_deployment_object
from brokkr_broker_client.api.generators import (
    create_generator, delete_generator, get_generator, list_generators, rotate_generator_pak, update_generator,
)
from brokkr_broker_client.api.stacks import (
    create_deployment_object, create_stack, delete_stack, get_stack, instantiate_template, list_deployment_objects,
    list_stacks, stacks_add_annotation, stacks_add_label, stacks_list_annotations, stacks_list_labels,
    stacks_remove_annotation, stacks_remove_label, update_stack,
)
from brokkr_broker_client.api.templates import (
    create_template, delete_template, get_template, list_templates, templates_add_annotation, templates_add_label,
    templates_list_annotations, templates_list_labels, templates_remove_annotation, templates_remove_label,
    update_template,
)
from brokkr_broker_client.client import AuthenticatedClient
from brokkr_broker_client.models import (
    AddAnnotationRequest, AuthResponse, CreateDeploymentObjectRequest, CreateGeneratorResponse, CreateTemplateRequest,
    DeploymentObject, ErrorResponse, Generator, NewGenerator, NewStack, NewStackAnnotation, Stack, StackAnnotation,
    StackLabel, StackTemplate, TemplateAnnotation, TemplateInstantiationRequest, TemplateLabel, UpdateTemplateRequest,
)

CONTENT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ name }}\ndata:\n  count: \"{{ count }}\"\n"
SCHEMA = (
    '{"type": "object", "required": ["name", "count"], "properties": {'
    '"name": {"type": "string", "minLength": 1}, "count": {"type": "integer", "maximum": 20}}}'
)
GOOD = {"name": "web", "count": 3}
RENDERED = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  count: \"3\"\n"


def sha256(text: str) -> str:
    """The checksum of a text, in lower-case hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


class Driver:
    """A catalog and clients with several keys."""

    def __init__(self, base: str, key: str) -> None:
        self.base, self.key = base, key
        self.calls = 0
        self.admin = self.client(key)
        self.tag = uuid4().hex[:8]

    def client(self, key: str, prefix: str = "") -> AuthenticatedClient:
        """A generated client that raises at an undescribed status."""
        return AuthenticatedClient(
            base_url=f"{self.base}/api/v1", token=key, prefix=prefix, raise_on_unexpected_status=True
        )

    def get(self, operation: Any, kind: type, status: int, *given: Any, client: Any = None, **named: Any) -> Any:
        """The response of an operation, which must have this type and status."""
        self.calls += 1
        answer = operation.sync_detailed(*given, client=client or self.admin, **named)
        assert answer.status_code == status, (operation.__name__, answer.status_code, answer.content)
        assert isinstance(answer.parsed, kind), (operation.__name__, answer.parsed)
        if kind is not ErrorResponse and not isinstance(answer.parsed, list):
            extra = getattr(answer.parsed, "additional_properties", {})
            assert not extra, f"{operation.__name__}: fields that the client does not know: {sorted(extra)}"
        return answer.parsed

    def fails(self, operation: Any, status: int, code: str, *given: Any, **named: Any) -> ErrorResponse:
        """The error response of an operation."""
        refusal = self.get(operation, ErrorResponse, status, *given, **named)
        assert refusal.code == code, (operation.__name__, refusal)
        assert refusal.message
        return refusal

    def bare(self, operation: Any, status: int, *given: Any, client: Any = None, **named: Any) -> None:
        """A response without a body, or with an undescribed status."""
        self.calls += 1
        client = (client or self.admin).with_headers({})
        client.raise_on_unexpected_status = False
        answer = operation.sync_detailed(*given, client=client, **named)
        assert answer.status_code == status, (operation.__name__, answer.status_code, answer.content)
        if status == 204:
            assert answer.content == b"", answer.content

    def names(self, name: str) -> str:
        """A unique name."""
        return f"{name}-{self.tag}"

    def generator(self, name: str) -> tuple[Generator, str]:
        """A new generator and its key."""
        made = self.get(create_generator, CreateGeneratorResponse, 201, body=NewGenerator(name=self.names(name)))
        return made.generator, made.pak

    def template(self, name: str, client: Any = None, content: str = CONTENT, schema: str = SCHEMA) -> StackTemplate:
        """A new version of a template."""
        body = CreateTemplateRequest(name=self.names(name), template_content=content, parameters_schema=schema)
        return self.get(create_template, StackTemplate, 201, client=client, body=body)

    def stack(self, name: str, owner: Generator, client: Any = None) -> Stack:
        """A new stack."""
        body = NewStack(name=self.names(name), generator_id=owner.id)
        return self.get(create_stack, Stack, 201, client=client, body=body)


def keys_and_generators(d: Driver) -> None:
    """Generators, keys, and the holder of a key."""
    made, key = d.generator("first")
    assert isinstance(made.id, UUID) and isinstance(made.created_at, datetime.datetime)
    assert made.created_at.tzinfo is not None and made.deleted_at is None and made.is_system is False
    assert key.startswith("brokkr_BR") and len(key.split("_")) == 3
    who = d.get(verify_pak, AuthResponse, 200)
    assert who.admin is True and who.readonly is False and who.generator is None and who.agent is None
    for prefix in ("", "Bearer"):
        who = d.get(verify_pak, AuthResponse, 200, client=d.client(key, prefix))
        assert who.admin is False and who.generator == str(made.id)
    d.fails(create_generator, 409, "unique_violation", body=NewGenerator(name=made.name))
    d.fails(create_generator, 403, "admin_required", client=d.client(key), body=NewGenerator(name=d.names("x")))
    d.fails(list_generators, 403, "admin_required", client=d.client(key))
    assert made.id in {row.id for row in d.get(list_generators, list, 200)}
    other, other_key = d.generator("other")
    assert d.get(get_generator, Generator, 200, made.id, client=d.client(key)).name == made.name
    d.fails(get_generator, 403, "generator_not_owned", made.id, client=d.client(other_key))
    d.fails(get_generator, 404, "generator_not_found", uuid4())
    changed = d.get(get_generator, Generator, 200, made.id)
    changed.description = "of the platform team"
    assert d.get(update_generator, Generator, 200, made.id, body=changed).description == changed.description
    rotated = d.get(rotate_generator_pak, CreateGeneratorResponse, 201, made.id, client=d.client(key))
    assert rotated.generator.id == made.id and rotated.pak != key
    refused(d, key)
    assert d.get(verify_pak, AuthResponse, 200, client=d.client(rotated.pak)).generator == str(made.id)
    d.bare(delete_generator, 204, other.id)
    d.fails(get_generator, 404, "generator_not_found", other.id)
    refused(d, other_key)


def refused(d: Driver, key: str) -> None:
    """A revoked key: 401 without a body, which the generated client has no type for."""
    d.calls += 1
    answer = d.client(key).get_httpx_client().get("/templates")
    assert (answer.status_code, answer.content) == (401, b""), (answer.status_code, answer.content)


def versions(d: Driver) -> None:
    """Template versions, their errors, and their deletion."""
    first = d.template("app")
    assert (first.version, first.generator_id, first.description, first.deleted_at) == (1, None, None, None)
    assert first.checksum == sha256(CONTENT) and first.parameters_schema == SCHEMA
    change = UpdateTemplateRequest(template_content=CONTENT + "# two\n", parameters_schema=SCHEMA, description="two")
    second = d.get(update_template, StackTemplate, 200, first.id, body=change)
    assert (second.version, second.name, second.description) == (2, first.name, "two") and second.id != first.id
    third = d.template("app", content=CONTENT + "# three\n")
    assert third.version == 3
    assert d.get(get_template, StackTemplate, 200, first.id) == first
    assert {first.id, second.id, third.id} <= {row.id for row in d.get(list_templates, list, 200)}
    wrong = [
        ("{{ name", SCHEMA, "invalid_template_syntax"), ("{% extends \"base\" %}", SCHEMA, "invalid_template_syntax"),
        ("x", "no JSON", "invalid_parameters_schema"), ("x", '{"type": "nope"}', "invalid_parameters_schema"),
        ("x", '{"$ref": "file:///etc/hostname"}', "invalid_parameters_schema"),
    ]
    for content, schema, code in wrong:
        body = CreateTemplateRequest(name=d.names("wrong"), template_content=content, parameters_schema=schema)
        d.fails(create_template, 400, code, body=body)
        put = UpdateTemplateRequest(template_content=content, parameters_schema=schema)
        d.fails(update_template, 400, code, first.id, body=put)
    d.bare(delete_template, 204, third.id)
    d.fails(get_template, 404, "template_not_found", third.id)
    d.fails(delete_template, 404, "template_not_found", third.id)
    assert d.template("app").version == 3


def ownership(d: Driver) -> None:
    """The access of a generator to system templates and to those of others."""
    mine, my_key = d.generator("mine")
    _, its_key = d.generator("its")
    me, it = d.client(my_key), d.client(its_key)
    system, own = d.template("shared"), d.template("private", client=me)
    assert own.generator_id == mine.id
    body = UpdateTemplateRequest(template_content="x", parameters_schema="{}")
    for client, template in ((it, own), (me, system)):
        d.fails(update_template, 403, "template_not_owned", template.id, client=client, body=body)
        d.fails(delete_template, 403, "template_not_owned", template.id, client=client)
        d.fails(templates_add_label, 403, "template_not_owned", template.id, client=client, body="x")
    d.fails(get_template, 403, "template_not_accessible", own.id, client=it)
    d.fails(templates_list_labels, 403, "template_not_accessible", own.id, client=it)
    assert d.get(get_template, StackTemplate, 200, system.id, client=it) == system
    seen = {row.id for row in d.get(list_templates, list, 200, client=it)}
    assert system.id in seen and own.id not in seen
    stack = d.stack("mine", mine, client=me)
    d.fails(get_stack, 403, "stack_not_owned", stack.id, client=it)
    d.fails(create_stack, 403, "stack_generator_mismatch", client=it, body=NewStack(name="x", generator_id=mine.id))
    assert [row.id for row in d.get(list_stacks, list, 200, client=me)] == [stack.id]
    assert d.get(list_stacks, list, 200, client=it) == []


def marks(d: Driver) -> None:
    """Labels and annotations of templates and of stacks."""
    owner, _ = d.generator("marks")
    template, stack = d.template("marked"), d.stack("marked", owner)
    label = d.get(templates_add_label, TemplateLabel, 201, template.id, body="env=prod")
    assert (label.template_id, label.label) == (template.id, "env=prod")
    assert [row.id for row in d.get(templates_list_labels, list, 200, template.id)] == [label.id]
    d.bare(templates_add_label, 409, template.id, body="env=prod")
    for wrong in ("", " ", "a b", "x" * 65, "é" * 33):
        d.fails(templates_add_label, 400, "invalid_label", template.id, body=wrong)
        d.fails(stacks_add_label, 400, "invalid_label", stack.id, body=wrong)
    pair = AddAnnotationRequest(key="region", value="eu")
    annotation = d.get(templates_add_annotation, TemplateAnnotation, 201, template.id, body=pair)
    assert (annotation.key, annotation.value) == ("region", "eu")
    wrong_pair = AddAnnotationRequest(key="", value="eu")
    d.fails(templates_add_annotation, 400, "invalid_annotation", template.id, body=wrong_pair)
    assert [row.id for row in d.get(templates_list_annotations, list, 200, template.id)] == [annotation.id]
    d.bare(templates_remove_label, 204, template.id, "env=prod")
    d.fails(templates_remove_label, 404, "template_label_not_found", template.id, "env=prod")
    d.bare(templates_remove_annotation, 204, template.id, "region")
    d.fails(templates_remove_annotation, 404, "template_annotation_not_found", template.id, "region")
    slashed = d.get(stacks_add_label, StackLabel, 201, stack.id, body="team/a")
    assert [row.id for row in d.get(stacks_list_labels, list, 200, stack.id)] == [slashed.id]
    d.bare(stacks_remove_label, 204, stack.id, "team/a")
    d.fails(stacks_remove_label, 404, "stack_label_not_found", stack.id, "team/a")
    new = NewStackAnnotation(stack_id=stack.id, key="region", value="eu")
    kept = d.get(stacks_add_annotation, StackAnnotation, 201, stack.id, body=new)
    assert (kept.stack_id, kept.key, kept.value) == (stack.id, "region", "eu")
    d.fails(stacks_add_annotation, 409, "unique_violation", stack.id, body=new)
    elsewhere = NewStackAnnotation(stack_id=uuid4(), key="region", value="eu")
    d.fails(stacks_add_annotation, 400, "stack_id_mismatch", stack.id, body=elsewhere)
    assert [row.id for row in d.get(stacks_list_annotations, list, 200, stack.id)] == [kept.id]
    d.bare(stacks_remove_annotation, 204, stack.id, "region")
    d.fails(stacks_remove_annotation, 404, "stack_annotation_not_found", stack.id, "region")


def instantiation(d: Driver) -> None:
    """Objects from templates, and all errors of rendering."""
    mine, my_key = d.generator("owner")
    its, its_key = d.generator("stranger")
    me, it = d.client(my_key), d.client(its_key)
    template, stack, foreign = d.template("restricted"), d.stack("target", mine), d.stack("foreign", its)
    own = d.template("of-owner", client=me)
    d.get(templates_add_label, TemplateLabel, 201, template.id, body="env=prod")
    pair = AddAnnotationRequest(key="region", value="eu")
    d.get(templates_add_annotation, TemplateAnnotation, 201, template.id, body=pair)

    def request(given: Any = None, of: StackTemplate = template) -> TemplateInstantiationRequest:
        return TemplateInstantiationRequest(template_id=of.id, parameters=GOOD if given is None else given)

    refusal = d.fails(instantiate_template, 422, "template_stack_mismatch", stack.id, body=request({}))
    assert refusal.details["missing_labels"] == ["env=prod"]
    assert refusal.details["missing_annotations"] == [["region", "eu"]]
    assert [other["code"] for other in refusal.details["also"]][:1] == ["invalid_parameters"]
    d.get(stacks_add_label, StackLabel, 201, stack.id, body="env=prod")
    new = NewStackAnnotation(stack_id=stack.id, key="region", value="eu")
    d.get(stacks_add_annotation, StackAnnotation, 201, stack.id, body=new)
    refusal = d.fails(instantiate_template, 400, "invalid_parameters", stack.id, body=request({"name": "", "count": 100}))
    assert refusal.details["validation_errors"] == [
        "/count: 100 is greater than the maximum of 20", '/name: "" is shorter than 1 character',
    ]
    made = d.get(instantiate_template, DeploymentObject, 201, stack.id, body=request())
    assert made.yaml_content == RENDERED and made.yaml_checksum == sha256(RENDERED)
    assert made.stack_id == stack.id and made.is_deletion_marker is False and made.deleted_at is None
    undefined = d.template("undefined", content="a: {{ not_given }}", schema="{}")
    refusal = d.fails(instantiate_template, 400, "template_render_failed", stack.id, body=request({}, undefined))
    assert "not_given" in refusal.message
    blank = d.template("blank", content="{% if false %}a{% endif %}", schema="{}")
    d.fails(instantiate_template, 400, "invalid_deployment_object", stack.id, body=request({}, blank))
    d.fails(instantiate_template, 403, "stack_not_owned", stack.id, client=it, body=request())
    d.fails(instantiate_template, 403, "template_not_accessible", foreign.id, client=it, body=request(of=own))
    d.fails(instantiate_template, 404, "stack_not_found", uuid4(), body=request())
    nowhere = TemplateInstantiationRequest(template_id=uuid4(), parameters=GOOD)
    d.fails(instantiate_template, 404, "template_not_found", stack.id, body=nowhere)
    mine_too = d.get(instantiate_template, DeploymentObject, 201, stack.id, client=me, body=request(of=own))
    assert mine_too.sequence_id > made.sequence_id
    listed = d.get(list_deployment_objects, list, 200, stack.id, client=me)
    assert {row.id for row in listed} == {made.id, mine_too.id}
    assert d.get(get_deployment_object, DeploymentObject, 200, made.id, client=me) == made
    d.fails(get_deployment_object, 403, "generator_not_associated", made.id, client=it)
    d.fails(get_deployment_object, 404, "deployment_object_not_found", uuid4())


def stacks_and_objects(d: Driver) -> None:
    """Stacks, and objects submitted as text."""
    owner, key = d.generator("stacks")
    me = d.client(key)
    stack = d.stack("plain", owner, client=me)
    assert stack.generator_id == owner.id and stack.description is None
    d.bare(create_stack, 409, body=NewStack(name=stack.name, generator_id=owner.id))
    d.bare(create_stack, 422, body=NewStack(name=d.names("x"), generator_id=uuid4()))
    stack.description = "changed"
    assert d.get(update_stack, Stack, 200, stack.id, body=stack).description == "changed"
    d.fails(update_stack, 400, "stack_id_mismatch", d.stack("second", owner).id, body=stack)
    d.fails(get_stack, 404, "stack_not_found", uuid4())
    body = CreateDeploymentObjectRequest(yaml_content="a: 1\n")
    made = d.get(create_deployment_object, DeploymentObject, 201, stack.id, client=me, body=body)
    assert made.yaml_checksum == sha256("a: 1\n")
    for wrong in ("", "a: [", "# nothing\n"):
        body = CreateDeploymentObjectRequest(yaml_content=wrong)
        d.fails(create_deployment_object, 400, "invalid_deployment_object", stack.id, body=body)
    d.bare(delete_stack, 204, stack.id, client=me)
    d.fails(get_stack, 404, "stack_not_found", stack.id)


def wrapper(d: Driver) -> None:
    """The hand-written client: manifests applied twice, and its own errors."""
    _, key = d.generator("wrapper")
    client = BrokkrClient(d.base, token=key)

    async def apply() -> None:
        with tempfile.TemporaryDirectory() as folder:
            manifest = Path(folder, "a.yaml")
            for text, status in (("a", "created"), ("a", "unchanged"), ("b", "updated")):
                manifest.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {text}\n")
                done = await client.apply(d.names("applied"), folder, targeting=["env=prod"])
                assert done.status == status, (done, status)
        try:
            await client.retry(lambda api: get_template.asyncio_detailed(uuid4(), client=api))
        except BrokkrError as error:
            assert (error.status, error.code) == (404, "template_not_found"), error
        else:
            raise AssertionError("an unknown template is no error")

    asyncio.run(apply())
    d.calls += 1


PARTS: list[Callable[[Driver], None]] = [
    keys_and_generators, versions, ownership, marks, instantiation, stacks_and_objects, wrapper,
]


def main() -> None:
    """Runs every part and names the one that fails."""
    driver = Driver(sys.argv[1], sys.argv[2])
    for part in PARTS:
        try:
            part(driver)
        except Exception as error:
            raise SystemExit(f"{part.__name__}: {type(error).__name__}: {error}") from error
    print(f"passed {driver.calls}")


if __name__ == "__main__":
    main()
