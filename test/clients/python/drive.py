"""Calls every method of the published Python client, versions 2.8 and 3.0, and prints the outcomes as JSON.

Arguments: address, environment key, organization key.
"""
import asyncio
import inspect
import sys

from permit import Permit

from outcomes import call as call_and_note, outcomes, tell

ADDRESS, KEY, ADMIN_KEY = sys.argv[1:4]
APIS = [
    "users", "tenants", "roles", "resources", "resource_roles", "resource_relations", "resource_actions",
    "action_groups", "resource_attributes", "resource_instances", "role_assignments", "relationship_tuples",
    "condition_sets", "condition_set_rules", "projects", "environments",
]


async def call(target, name, method, *arguments, expect=lambda answer: True, **named):
    return await call_and_note(f"{name}.{method}", lambda: getattr(target, method)(*arguments, **named), expect=expect)


async def read(target, name, *keys, of):
    """Reads an entity in three ways."""
    for method in ("get", "get_by_key"):
        await call(target, name, method, *keys, expect=lambda one: one.key == keys[-1])
    if of is not None:
        await call(target, name, "get_by_id", *keys[:-1], str(of.id), expect=lambda one: one.key == keys[-1])


async def model(api):
    resources = api.resources
    group = await call(resources, "resources", "create", {"key": "folder", "name": "Folder", "actions": {"read": {}}})
    await read(resources, "resources", "folder", of=group)
    await call(resources, "resources", "create", {
        "key": "document", "name": "Document", "actions": {"read": {}, "write": {}}, "attributes": {"size": {"type": "number"}},
    })
    await call(resources, "resources", "list", expect=lambda all: [one.key for one in all] == ["folder", "document"])
    await call(resources, "resources", "update", "document", {"description": "Written"}, expect=lambda one: one.description == "Written")
    await call(resources, "resources", "create", {"key": "spare", "name": "Spare", "actions": {}})
    await call(resources, "resources", "replace", "spare", {"name": "Other", "actions": {"read": {}}}, expect=lambda one: one.name == "Other")

    parts = [
        (api.resource_actions, "resource_actions", {"key": "print", "name": "Print"}, {"name": "P"}),
        (api.action_groups, "action_groups", {"key": "all", "name": "All", "actions": ["read"]}, None),
        (api.resource_attributes, "resource_attributes", {"key": "owner", "type": "string"}, {"type": "json"}),
        (api.resource_roles, "resource_roles", {"key": "viewer", "name": "Viewer", "permissions": ["read"]}, {"name": "V"}),
        (api.resource_relations, "resource_relations", {"key": "parent", "name": "Parent", "subject_resource": "folder"}, None),
    ]
    for target, name, body, change in parts:
        made = await call(target, name, "create", "document", body, expect=lambda one: one.key == body["key"])
        await read(target, name, "document", body["key"], of=made)
        await call(target, name, "list", "document")
        if hasattr(target, "update"):
            await call(target, name, "update", "document", body["key"], change or {"name": "All of them"})

    roles = api.resource_roles
    await call(roles, "resource_roles", "create", "folder", {"key": "owner", "name": "Owner"})
    await call(roles, "resource_roles", "assign_permissions", "document", "viewer", ["write"])
    await call(roles, "resource_roles", "remove_permissions", "document", "viewer", ["write"])
    entry = {"role": "owner", "on_resource": "folder", "linked_by_relation": "parent"}
    await call(roles, "resource_roles", "create_role_derivation", "document", "viewer", entry)
    await call(roles, "resource_roles", "update_role_derivation_conditions", "document", "viewer", {"no_direct_roles_on_object": False})
    await call(roles, "resource_roles", "delete_role_derivation", "document", "viewer", entry)
    await call(roles, "resource_roles", "create_role_derivation", "document", "viewer", entry)

    tenant_roles = api.roles
    made = await call(tenant_roles, "roles", "create", {"key": "editor", "name": "Editor", "permissions": ["document:write"]})
    await read(tenant_roles, "roles", "editor", of=made)
    await call(tenant_roles, "roles", "list", expect=lambda all: len(all) == 1)
    await call(tenant_roles, "roles", "update", "editor", {"description": "Edits"})
    await call(tenant_roles, "roles", "assign_permissions", "editor", ["document:read"])
    await call(tenant_roles, "roles", "remove_permissions", "editor", ["document:read"], expect=lambda one: one.permissions == ["document:write"])


async def facts(api):
    made = await call(api.tenants, "tenants", "create", {"key": "acme", "name": "Acme"})
    await read(api.tenants, "tenants", "acme", of=made)
    await call(api.tenants, "tenants", "list", expect=lambda all: [one.key for one in all] == ["default", "acme"])
    await call(api.tenants, "tenants", "update", "acme", {"description": "A customer"})
    await call(api.tenants, "tenants", "bulk_create", [{"key": "t1", "name": "T1"}, {"key": "t2", "name": "T2"}])
    await call(api.tenants, "tenants", "bulk_delete", ["t1", "t2"])

    made = await call(api.users, "users", "create", {"key": "ann", "email": "ann@example.com", "attributes": {"level": 3}})
    await read(api.users, "users", "ann", of=made)
    await call(api.users, "users", "update", "ann", {"first_name": "Ann"}, expect=lambda one: one.first_name == "Ann")
    await call(api.users, "users", "sync", {"key": "bob"})
    await call(api.users, "users", "list", expect=lambda page: page.total_count == 2)
    await call(api.users, "users", "bulk_create", [{"key": "u1"}, {"key": "u2"}])
    await call(api.users, "users", "bulk_replace", [{"key": "u1", "first_name": "U"}])
    await call(api.users, "users", "bulk_delete", ["u1", "u2"])
    assignment = {"user": "ann", "role": "editor", "tenant": "acme"}
    await call(api.users, "users", "assign_role", assignment, expect=lambda one: one.role == "editor")
    await call(api.users, "users", "get_assigned_roles", "ann", expect=lambda all: len(all) == 1)
    await call(api.tenants, "tenants", "list_tenant_users", "acme", expect=lambda page: [one.key for one in page.data] == ["ann"])
    await call(api.users, "users", "unassign_role", assignment)
    await call(api.role_assignments, "role_assignments", "assign", assignment)
    await call(api.role_assignments, "role_assignments", "list", user_key="ann", expect=lambda all: len(all) == 1)
    await call(api.role_assignments, "role_assignments", "unassign", assignment)
    await call(api.role_assignments, "role_assignments", "bulk_assign", [assignment])
    await call(api.role_assignments, "role_assignments", "bulk_unassign", [assignment])
    await call(api.role_assignments, "role_assignments", "assign", assignment)

    instances = api.resource_instances
    made = await call(instances, "resource_instances", "create", {"key": "f1", "resource": "folder", "tenant": "acme"})
    if made is not None:
        for method, key in (("get", "folder:f1"), ("get_by_key", "folder:f1"), ("get_by_id", str(made.id))):
            await call(instances, "resource_instances", method, key, expect=lambda one: one.key == "f1")
    await call(instances, "resource_instances", "list")
    await call(instances, "resource_instances", "update", "folder:f1", {"attributes": {"a": 1}})
    await call(instances, "resource_instances", "bulk_replace", [{"key": "d1", "resource": "document", "tenant": "acme"}])
    link = {"subject": "folder:f1", "relation": "parent", "object": "document:d1"}
    tuples = api.relationship_tuples
    await call(tuples, "relationship_tuples", "create", link)
    await call(tuples, "relationship_tuples", "list", expect=lambda all: len(all) == 1)
    await call(tuples, "relationship_tuples", "delete", link)
    await call(tuples, "relationship_tuples", "bulk_create", [{**link, "tenant": "acme"}])
    await call(tuples, "relationship_tuples", "bulk_delete", [link])
    await call(tuples, "relationship_tuples", "create", link)
    await call(api.role_assignments, "role_assignments", "assign", {
        "user": "bob", "role": "owner", "resource_instance": "folder:f1", "tenant": "acme",
    })


async def conditions(api):
    sets = api.condition_sets
    made = await call(sets, "condition_sets", "create", {
        "key": "seniors", "name": "Seniors", "type": "userset", "conditions": {"allOf": [{"user.level": {"greater-than": 2}}]},
    })
    await read(sets, "condition_sets", "seniors", of=made)
    await call(sets, "condition_sets", "create", {
        "key": "small", "name": "Small", "type": "resourceset", "resource_id": "document",
        "conditions": {"allOf": [{"resource.size": {"less-than": 5}}]},
    })
    await call(sets, "condition_sets", "list", expect=lambda all: len(all) == 2)
    await call(sets, "condition_sets", "update", "seniors", {"name": "Elders"})
    rule = {"user_set": "seniors", "permission": "document:read", "resource_set": "small"}
    await call(api.condition_set_rules, "condition_set_rules", "create", rule)
    await call(api.condition_set_rules, "condition_set_rules", "list", expect=lambda all: len(all) == 1)


async def decisions(permit):
    document = {"type": "document", "key": "d1", "tenant": "acme"}
    at = lambda **attributes: {"type": "document", "tenant": "acme", "attributes": attributes}
    await call(permit, "permit", "check", "ann", "write", {"type": "document", "tenant": "acme"}, expect=lambda allowed: allowed is True)
    await call(permit, "permit", "check", "bob", "read", document, expect=lambda allowed: allowed is True)
    await call(permit, "permit", "check", "bob", "write", document, expect=lambda allowed: allowed is False)
    await call(permit, "permit", "check", "ann", "read", at(size=3), expect=lambda allowed: allowed is True)
    questions = [
        {"user": "ann", "action": "write", "resource": document},
        {"user": "bob", "action": "write", "resource": document},
    ]
    await call(permit, "permit", "bulk_check", questions, expect=lambda answers: answers == [True, False])
    await call(permit, "permit", "get_user_permissions", "ann", expect=lambda found: "__tenant:acme" in found)
    await call(permit, "permit", "authorized_users", "read", document, expect=lambda found: "bob" in found.users)
    if hasattr(permit, "filter_objects"):
        await call(permit, "permit", "filter_objects", "ann", "write", {}, [document], expect=lambda found: found == [document])
    listed = permit.pdp_api.role_assignments if hasattr(permit, "pdp_api") else None
    if listed is not None:
        await call(listed, "pdp_api.role_assignments", "list", user_key="ann", expect=lambda all: len(all) == 1)


async def undo(api):
    rule = {"user_set": "seniors", "permission": "document:read", "resource_set": "small"}
    await call(api.condition_set_rules, "condition_set_rules", "delete", rule)
    await call(api.condition_sets, "condition_sets", "delete", "seniors")
    await call(api.tenants, "tenants", "delete_tenant_user", "acme", "ann")
    await call(api.resource_instances, "resource_instances", "delete", "folder:f1")
    await call(api.resource_instances, "resource_instances", "bulk_delete", ["document:d1"])
    await call(api.users, "users", "delete", "bob")
    await call(api.tenants, "tenants", "delete", "acme")
    await call(api.roles, "roles", "delete", "editor")
    for target, name, key in (
        (api.resource_relations, "resource_relations", "parent"), (api.resource_roles, "resource_roles", "viewer"),
        (api.resource_attributes, "resource_attributes", "owner"), (api.action_groups, "action_groups", "all"),
        (api.resource_actions, "resource_actions", "print"),
    ):
        await call(target, name, "delete", "document", key)
    await call(api.resources, "resources", "delete", "document")


async def organization(api):
    made = await call(api.projects, "projects", "create", {"key": "shop", "name": "Shop", "initial_environments": []})
    await read(api.projects, "projects", "shop", of=made)
    await call(api.projects, "projects", "list", expect=lambda all: len(all) == 2)
    await call(api.projects, "projects", "update", "shop", {"name": "Store"})
    environments = api.environments
    made = await call(environments, "environments", "create", "shop", {"key": "staging", "name": "Staging"})
    await read(environments, "environments", "shop", "staging", of=made)
    await call(environments, "environments", "list", "shop", expect=lambda all: len(all) == 1)
    await call(environments, "environments", "update", "shop", "staging", {"name": "Stage"})
    await call(environments, "environments", "get_stats", "shop", "staging", expect=lambda one: one.stats.mau == 0)
    await call(environments, "environments", "get_api_key", "shop", "staging", expect=lambda one: one.secret)
    await call(environments, "environments", "copy", "shop", "staging", {"target_env": {"new": {"key": "copy", "name": "Copy"}}})
    await call(environments, "environments", "delete", "shop", "copy")
    await call(api.projects, "projects", "delete", "shop")


def methods(api):
    for name in APIS:
        target = getattr(api, name)
        for method, _ in inspect.getmembers(target, inspect.iscoroutinefunction):
            if not method.startswith("_"):
                yield f"{name}.{method}"


async def main():
    permit = Permit(token=KEY, pdp=ADDRESS, api_url=ADDRESS)
    for story in (model, facts, conditions):
        await story(permit.api)
    await decisions(permit)
    await undo(permit.api)
    await organization(Permit(token=ADMIN_KEY, pdp=ADDRESS, api_url=ADDRESS).api)
    for method in set(methods(permit.api)) - outcomes.keys():
        outcomes[method] = "not called"
    tell()


asyncio.run(main())
