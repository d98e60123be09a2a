"""The story with the client of openapi-python-client."""
import generated
from generated import AuthenticatedClient, models
from generated.api.auth_zen import search_resources
from generated.api.decisions import is_allowed, is_allowed_bulk
from generated.api.groups import add_group_member, add_group_role, create_group

from story import ADDRESS, KEY, load_all, tell

client = AuthenticatedClient(base_url=ADDRESS, token=KEY, raise_on_unexpected_status=True)


def query(user, action):
    return models.AllowedQuery(
        user=models.UserInQuery(key=user), action=action, resource=models.ResourceInQuery(type_="document", key="d1"),
    )


def expect(answer, kind):
    """Returns the response. The client returns errors of the service as objects of another class."""
    if not isinstance(answer, kind):
        raise AssertionError(answer)
    return answer


class Calls:
    def check(self, user, action):
        return expect(is_allowed.sync(client=client, body=query(user, action)), models.AllowedResult).allow

    def bulk(self, questions):
        body = [query(*question) for question in questions]
        answer = expect(is_allowed_bulk.sync(client=client, body=body), models.BulkAllowedResult)
        return [one.allow for one in answer.allow]

    def create_group(self, group, tenant):
        body = models.GroupCreate(group_instance_key=group, group_tenant=tenant)
        expect(create_group.sync("default", "default", client=client, body=body), models.GroupRead)

    def add_member(self, group, user, tenant):
        body = models.GroupMemberBody(tenant=tenant)
        expect(add_group_member.sync("default", "default", group, user, client=client, body=body), models.GroupRead)

    def add_role(self, group, role, document, tenant):
        body = models.GroupAddRole(role=role, resource="document", resource_instance=document, tenant=tenant)
        expect(add_group_role.sync("default", "default", group, client=client, body=body), models.GroupRead)

    def search(self, user, token):
        body = models.ResourceSearchRequest(
            subject=models.AccessEntity(type_="user", id=user), action=models.AccessAction(name="read"),
            resource=models.AccessEntityType(type_="document"), page=models.PageInSearch(limit=1, token=token),
        )
        found = expect(search_resources.sync(client=client, body=body), models.EntitySearchResponse)
        return [one.id for one in found.results], found.page.next_token


load_all(generated)
tell(Calls())
