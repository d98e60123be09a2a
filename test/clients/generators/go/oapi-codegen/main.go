// The story with the client of oapi-codegen.
package main

import (
	"context"
	"fmt"
	"net/http"

	"story/oapi-codegen/generated"
	"story/story"
)

type calls struct {
	client *generated.ClientWithResponses
}

var ctx = context.Background()

func query(question story.Question) generated.AllowedQuery {
	key := "d1"
	return generated.AllowedQuery{
		User:     generated.UserInQuery{Key: question.User},
		Action:   question.Action,
		Resource: generated.ResourceInQuery{Type: "document", Key: &key},
	}
}

// failure returns the body of an unexpected response as an error.
func failure(err error, body []byte, isThere bool) error {
	if err == nil && !isThere {
		return fmt.Errorf("%s", body)
	}
	return err
}

func (c calls) Check(question story.Question) (bool, error) {
	answer, err := c.client.IsAllowedWithResponse(ctx, nil, query(question))
	if err != nil || answer.JSON200 == nil {
		return false, failure(err, answer.Body, false)
	}
	return answer.JSON200.Allow, nil
}

func (c calls) Bulk(questions []story.Question) ([]bool, error) {
	queries := make([]generated.AllowedQuery, len(questions))
	for index, question := range questions {
		queries[index] = query(question)
	}
	answer, err := c.client.IsAllowedBulkWithResponse(ctx, nil, queries)
	if err != nil || answer.JSON200 == nil {
		return nil, failure(err, answer.Body, false)
	}
	var allowed []bool
	for _, one := range answer.JSON200.Allow {
		allowed = append(allowed, one.Allow)
	}
	return allowed, nil
}

func (c calls) CreateGroup(group, tenant string) error {
	body := generated.GroupCreate{GroupInstanceKey: group, GroupTenant: tenant}
	answer, err := c.client.CreateGroupWithResponse(ctx, "default", "default", nil, body)
	return failure(err, answer.Body, answer.JSON200 != nil)
}

func (c calls) AddMember(group, user, tenant string) error {
	body := generated.GroupMemberBody{Tenant: tenant}
	answer, err := c.client.AddGroupMemberWithResponse(ctx, "default", "default", group, user, nil, body)
	return failure(err, answer.Body, answer.JSON200 != nil)
}

func (c calls) AddRole(group, role, document, tenant string) error {
	body := generated.GroupAddRole{Role: role, Resource: "document", ResourceInstance: document, Tenant: tenant}
	answer, err := c.client.AddGroupRoleWithResponse(ctx, "default", "default", group, nil, body)
	return failure(err, answer.Body, answer.JSON200 != nil)
}

func (c calls) Search(user, token string) ([]string, string, error) {
	limit := 1
	page := generated.PageInSearch{Limit: &limit}
	if token != "" {
		page.Token = &token
	}
	body := generated.ResourceSearchRequest{
		Subject:  generated.AccessEntity{Type: "user", Id: user},
		Action:   generated.AccessAction{Name: "read"},
		Resource: generated.AccessEntityType{Type: "document"},
		Page:     &page,
	}
	answer, err := c.client.SearchResourcesWithResponse(ctx, nil, body)
	if err != nil || answer.JSON200 == nil {
		return nil, "", failure(err, answer.Body, false)
	}
	var ids []string
	for _, one := range answer.JSON200.Results {
		ids = append(ids, one.Id)
	}
	return ids, answer.JSON200.Page.NextToken, nil
}

func main() {
	address, key := story.Arguments()
	signed := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client, err := generated.NewClientWithResponses(address, generated.WithRequestEditorFn(signed))
	if err != nil {
		panic(err)
	}
	story.Tell(calls{client})
}
