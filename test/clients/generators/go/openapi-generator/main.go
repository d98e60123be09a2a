// The story with the `go` client of openapi-generator.
package main

import (
	"context"

	"story/openapi-generator/generated"
	"story/story"
)

type calls struct{ client *generated.APIClient }

var ctx = context.Background()

func query(question story.Question) generated.AllowedQuery {
	resource := generated.NewResourceInQuery("document")
	resource.SetKey("d1")
	return *generated.NewAllowedQuery(*generated.NewUserInQuery(question.User), question.Action, *resource)
}

func (c calls) Check(question story.Question) (bool, error) {
	answer, _, err := c.client.DecisionsAPI.IsAllowed(ctx).AllowedQuery(query(question)).Execute()
	return answer.GetAllow(), err
}

func (c calls) Bulk(questions []story.Question) ([]bool, error) {
	queries := make([]generated.AllowedQuery, len(questions))
	for index, question := range questions {
		queries[index] = query(question)
	}
	answer, _, err := c.client.DecisionsAPI.IsAllowedBulk(ctx).AllowedQuery(queries).Execute()
	var allowed []bool
	for _, one := range answer.GetAllow() {
		allowed = append(allowed, one.Allow)
	}
	return allowed, err
}

func (c calls) CreateGroup(group, tenant string) error {
	request := c.client.GroupsAPI.CreateGroup(ctx, "default", "default")
	_, _, err := request.GroupCreate(*generated.NewGroupCreate(group, tenant)).Execute()
	return err
}

func (c calls) AddMember(group, user, tenant string) error {
	request := c.client.GroupsAPI.AddGroupMember(ctx, "default", "default", group, user)
	_, _, err := request.GroupMemberBody(*generated.NewGroupMemberBody(tenant)).Execute()
	return err
}

func (c calls) AddRole(group, role, document, tenant string) error {
	request := c.client.GroupsAPI.AddGroupRole(ctx, "default", "default", group)
	_, _, err := request.GroupAddRole(*generated.NewGroupAddRole(role, "document", document, tenant)).Execute()
	return err
}

func (c calls) Search(user, token string) ([]string, string, error) {
	subject := generated.NewAccessEntity("user", user)
	action, document := generated.NewAccessAction("read"), generated.NewAccessEntityType("document")
	body := generated.NewResourceSearchRequest(*subject, *action, *document)
	page := generated.NewPageInSearch()
	page.SetLimit(1)
	if token != "" {
		page.SetToken(token)
	}
	body.SetPage(*page)
	found, _, err := c.client.AuthZENAPI.SearchResources(ctx).ResourceSearchRequest(*body).Execute()
	if err != nil {
		return nil, "", err
	}
	var ids []string
	for _, one := range found.Results {
		ids = append(ids, one.Id)
	}
	return ids, found.Page.NextToken, nil
}

func main() {
	address, key := story.Arguments()
	configuration := generated.NewConfiguration()
	configuration.Servers = generated.ServerConfigurations{{URL: address}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+key)
	story.Tell(calls{generated.NewAPIClient(configuration)})
}
