package main

import (
	"fmt"
	"strings"

	"github.com/permitio/permit-golang/pkg/api"
	"github.com/permitio/permit-golang/pkg/models"
	"github.com/permitio/permit-golang/pkg/permit"
)

// kind is what the Terraform provider does with one kind of resource, by the client that it stands on.
type kind struct {
	name string
	// create makes it, as apply does first.
	create func() error
	// read tells what is there, as plan and import do: in a form that shows each part that a configuration has.
	read func() (string, error)
	// want is what read tells after create, changed after change.
	want, changed string
	// change gives it another content, as apply does of a changed configuration; and as somebody else may. Nil where a
	// changed configuration makes another one.
	change  func() error
	destroy func() error
}

// cycle goes through apply, plan, change, drift and destroy of one kind.
func cycle(one kind) {
	name := method(one.name)
	expect := func(step, wanted string) bool {
		found, err := one.read()
		if err == nil && found != wanted {
			err = fmt.Errorf("%s: expected %s, got %s", step, wanted, found)
		}
		return name.did(err)
	}
	if !name.did(one.create()) || !expect("plan after apply", one.want) {
		return
	}
	if one.change != nil && (!name.did(one.change()) || !expect("plan after a change", one.changed)) {
		return
	}
	name.did(one.destroy())
	// What is gone has to be told from what cannot be read: the first is made again, the second stops the run.
	if found, err := one.read(); err == nil {
		note(one.name, "still there after destroy: "+found)
	} else if !strings.Contains(strings.ToLower(err.Error()), "not found") && err != errGone {
		note(one.name, "destroyed, and told as "+err.Error())
	}
}

var errGone = fmt.Errorf("gone")

// told joins what a configuration has of an object.
func told(err error, parts ...any) (string, error) {
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(fmt.Sprintln(parts...)), nil
}

// terraform needs the resources folder and document, the relation parent, the roles folder#owner and document#viewer,
// the tenant acme, the user ann and the instance folder:f1.
func terraform(permits *permit.Client) {
	client := permits.Api
	ground(client)
	for _, one := range append(schemaKinds(client), factKinds(client)...) {
		cycle(one)
	}
}

func ground(client *api.PermitApiClient) {
	read := map[string]models.ActionBlockEditable{"read": {}}
	step := method("ground")
	for _, key := range []string{"folder", "document"} {
		step.got(client.Resources.Create(ctx, *models.NewResourceCreate(key, key, read)))
	}
	step.got(client.ResourceRelations.Create(ctx, "document", *models.NewRelationCreate("parent", "Parent", "folder")))
	step.got(client.ResourceRoles.Create(ctx, "folder", *models.NewResourceRoleCreate("owner", "Owner")))
	step.got(client.ResourceRoles.Create(ctx, "document", *models.NewResourceRoleCreate("viewer", "Viewer")))
	step.got(client.Roles.Create(ctx, *models.NewRoleCreate("editor", "Editor")))
	step.got(client.Tenants.Create(ctx, *models.NewTenantCreate("acme", "Acme")))
	step.got(client.Users.Create(ctx, *models.NewUserCreate("ann")))
	instance := models.ResourceInstanceCreate{Key: "f1", Resource: "folder", Tenant: pointer("acme")}
	step.got(client.ResourceInstances.Create(ctx, instance))
}

func schemaKinds(client *api.PermitApiClient) []kind {
	actions := map[string]models.ActionBlockEditable{"sail": {Name: pointer("Sail")}}
	return []kind{
		{
			name: "permitio_resource",
			create: func() error {
				body := *models.NewResourceCreate("boat", "Boat", actions)
				body.Description = pointer("Floats")
				_, err := client.Resources.Create(ctx, body)
				return err
			},
			read: func() (string, error) {
				found, err := client.Resources.Get(ctx, "boat")
				return told(err, found.GetName(), found.GetDescription(), len(found.GetActions()))
			},
			want: "Boat Floats 1", changed: "Ship Floats 1",
			change: func() error {
				_, err := client.Resources.Update(ctx, "boat", models.ResourceUpdate{Name: pointer("Ship")})
				return err
			},
			destroy: func() error { return client.Resources.Delete(ctx, "boat") },
		},
		{
			name: "permitio_role (of tenants)",
			create: func() error {
				role := models.RoleCreate{Key: "captain", Name: "Captain", Permissions: []string{"document:read"}, Extends: []string{"editor"}}
				_, err := client.Roles.Create(ctx, role)
				return err
			},
			read: func() (string, error) {
				found, err := client.Roles.Get(ctx, "captain")
				return told(err, found.GetName(), found.GetPermissions(), found.GetExtends())
			},
			want: "Captain [document:read] [editor]", changed: "Captain [folder:read] [editor]",
			change: func() error {
				_, err := client.Roles.Update(ctx, "captain", models.RoleUpdate{Permissions: []string{"folder:read"}})
				return err
			},
			destroy: func() error { return client.Roles.Delete(ctx, "captain") },
		},
		{
			name: "permitio_role (of a resource)",
			create: func() error {
				role := models.ResourceRoleCreate{Key: "reader", Name: "Reader", Permissions: []string{"read"}, Extends: []string{"viewer"}}
				_, err := client.ResourceRoles.Create(ctx, "document", role)
				return err
			},
			read: func() (string, error) {
				found, err := client.ResourceRoles.Get(ctx, "document", "reader")
				return told(err, found.GetName(), found.GetPermissions(), found.GetExtends())
			},
			want: "Reader [read] [viewer]", changed: "R [read] [viewer]",
			change: func() error {
				_, err := client.ResourceRoles.Update(ctx, "document", "reader", models.ResourceRoleUpdate{Name: pointer("R")})
				return err
			},
			destroy: func() error { return client.ResourceRoles.Delete(ctx, "document", "reader") },
		},
		{
			name: "permitio_relation",
			create: func() error {
				_, err := client.ResourceRelations.Create(ctx, "folder", *models.NewRelationCreate("within", "Within", "folder"))
				return err
			},
			read: func() (string, error) {
				found, err := client.ResourceRelations.Get(ctx, "folder", "within")
				return told(err, found.GetName(), found.GetSubjectResource())
			},
			want:    "Within folder",
			destroy: func() error { return client.ResourceRelations.Delete(ctx, "folder", "within") },
		},
		{
			name: "permitio_role_derivation",
			create: func() error {
				_, err := client.ImplicitGrants.Create(ctx, "document", "viewer", *models.NewDerivedRoleRuleCreate("owner", "folder", "parent"))
				return err
			},
			read: func() (string, error) {
				found, err := client.ResourceRoles.Get(ctx, "document", "viewer")
				if err != nil {
					return "", err
				}
				granted := found.GetGrantedTo()
				if len(granted.GetUsersWithRole()) == 0 {
					return "", errGone
				}
				rule := granted.GetUsersWithRole()[0]
				return told(nil, rule.GetRole(), rule.GetOnResource(), rule.GetLinkedByRelation())
			},
			want: "owner folder parent",
			destroy: func() error {
				return client.ImplicitGrants.Delete(ctx, "document", "viewer", *models.NewDerivedRoleRuleDelete("owner", "folder", "parent"))
			},
		},
		{
			name: "permitio_user_attribute",
			create: func() error {
				_, err := client.ResourceAttributes.Create(ctx, "__user", *models.NewResourceAttributeCreate("grade", models.NUMBER))
				return err
			},
			read: func() (string, error) {
				found, err := client.ResourceAttributes.Get(ctx, "__user", "grade")
				return told(err, found.GetType(), found.GetDescription())
			},
			want: "number", changed: "number High is good",
			change: func() error {
				body := models.ResourceAttributeUpdate{Description: pointer("High is good")}
				_, err := client.ResourceAttributes.Update(ctx, "__user", "grade", body)
				return err
			},
			destroy: func() error { return client.ResourceAttributes.Delete(ctx, "__user", "grade") },
		},
	}
}

func factKinds(client *api.PermitApiClient) []kind {
	assigned := func(role, instance string) (string, error) {
		found, err := client.RoleAssignments.List(ctx, 1, 100, "ann", role, "acme")
		if err != nil {
			return "", err
		}
		if found == nil { // so the client answers where there are none
			return "", errGone
		}
		for _, one := range *found {
			if one.GetResourceInstance() == instance {
				return told(nil, one.GetUser(), one.GetRole(), one.GetTenant(), instance)
			}
		}
		return "", errGone
	}
	return []kind{
		{
			name: "permitio_tenant",
			create: func() error {
				tenant := models.TenantCreate{Key: "umbrella", Name: "Umbrella", Attributes: map[string]any{"tier": "gold"}}
				_, err := client.Tenants.Create(ctx, tenant)
				return err
			},
			read: func() (string, error) {
				found, err := client.Tenants.Get(ctx, "umbrella")
				return told(err, found.GetName(), found.GetAttributes())
			},
			want: "Umbrella map[tier:gold]", changed: "U map[tier:gold]",
			change: func() error {
				_, err := client.Tenants.Update(ctx, "umbrella", models.TenantUpdate{Name: pointer("U")})
				return err
			},
			destroy: func() error { return client.Tenants.Delete(ctx, "umbrella") },
		},
		{
			name: "permitio_resource_instance",
			create: func() error {
				instance := models.ResourceInstanceCreate{Key: "d9", Resource: "document", Tenant: pointer("acme")}
				_, err := client.ResourceInstances.Create(ctx, instance)
				return err
			},
			read: func() (string, error) {
				found, err := client.ResourceInstances.Get(ctx, "document:d9")
				return told(err, found.GetKey(), found.GetResource(), found.GetTenant(), found.GetAttributes())
			},
			want: "d9 document acme map[]", changed: "d9 document acme map[pages:9]",
			change: func() error {
				body := models.ResourceInstanceUpdate{Attributes: map[string]any{"pages": 9}}
				_, err := client.ResourceInstances.Update(ctx, "document:d9", body)
				return err
			},
			destroy: func() error { return client.ResourceInstances.Delete(ctx, "document:d9") },
		},
		{
			name: "permitio_proxy_config",
			create: func() error {
				config := *models.NewProxyConfigCreate("secret", "gate", "Gate")
				rule := *models.NewMappingRule("https://shop.example.com/documents/{id}", models.GET, "document")
				rule.Action = pointer("read")
				config.MappingRules = []models.MappingRule{rule}
				_, err := client.ProxyConfigs.Create(ctx, config)
				return err
			},
			read: func() (string, error) {
				found, err := client.ProxyConfigs.Get(ctx, "gate")
				if err != nil {
					return "", err
				}
				rule := found.GetMappingRules()[0]
				return told(nil, found.GetName(), found.GetAuthMechanism(), rule.Url, rule.HttpMethod, rule.Resource, *rule.Action)
			},
			want:    "Gate Basic https://shop.example.com/documents/{id} get document read",
			changed: "Door Basic https://shop.example.com/documents/{id} get document read",
			change: func() error {
				_, err := client.ProxyConfigs.Update(ctx, "gate", models.ProxyConfigUpdate{Name: pointer("Door")})
				return err
			},
			destroy: func() error { return client.ProxyConfigs.Delete(ctx, "gate") },
		},
		{
			name: "permitio_role_assignment",
			create: func() error {
				_, err := client.Users.AssignRole(ctx, "ann", "editor", "acme")
				return err
			},
			read: func() (string, error) { return assigned("editor", "") },
			want: "ann editor acme",
			destroy: func() error {
				_, err := client.Users.UnassignRole(ctx, "ann", "editor", "acme")
				return err
			},
		},
		{
			name: "permitio_resource_instance_role_assignment",
			create: func() error {
				_, err := client.Users.AssignResourceRole(ctx, "ann", "owner", "acme", "folder:f1")
				return err
			},
			read: func() (string, error) { return assigned("owner", "folder:f1") },
			want: "ann owner acme folder:f1",
			destroy: func() error {
				_, err := client.Users.UnassignResourceRole(ctx, "ann", "owner", "acme", "folder:f1")
				return err
			},
		},
	}
}
