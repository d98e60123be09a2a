"""The story with the `python` client of openapi-generator."""
import openapi_client
from openapi_client.api.auth_zen_api import AuthZENApi
from openapi_client.api.decisions_api import DecisionsApi
from openapi_client.api.groups_api import GroupsApi
from openapi_client import models

from story import ADDRESS, KEY, load_all, tell

client = openapi_client.ApiClient(openapi_client.Configuration(host=ADDRESS, access_token=KEY))


def query(user, action):
    return models.AllowedQuery(
        user=models.UserInQuery(key=user), action=action, resource=models.ResourceInQuery(type="document", key="d1"),
    )


class Calls:
    decisions = DecisionsApi(client)
    groups = GroupsApi(client)
    authzen = AuthZENApi(client)

    def check(self, user, action):
        return self.decisions.is_allowed(query(user, action)).allow

    def bulk(self, questions):
        return [one.allow for one in self.decisions.is_allowed_bulk([query(*question) for question in questions]).allow]

    def create_group(self, group, tenant):
        body = models.GroupCreate(group_instance_key=group, group_tenant=tenant)
        self.groups.create_group("default", "default", body)

    def add_member(self, group, user, tenant):
        self.groups.add_group_member("default", "default", group, user, models.GroupMemberBody(tenant=tenant))

    def add_role(self, group, role, document, tenant):
        body = models.GroupAddRole(role=role, resource="document", resource_instance=document, tenant=tenant)
        self.groups.add_group_role("default", "default", group, body)

    def search(self, user, token):
        found = self.authzen.search_resources(models.ResourceSearchRequest(
            subject=models.AccessEntity(type="user", id=user), action=models.AccessAction(name="read"),
            resource=models.AccessEntityType(type="document"), page=models.PageInSearch(limit=1, token=token),
        ))
        return [one.id for one in found.results], found.page.next_token


load_all(openapi_client)
tell(Calls())
