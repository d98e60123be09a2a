package main

import (
	"fmt"
	"strings"

	"github.com/permitio/permit-golang/pkg/api"
	"github.com/permitio/permit-golang/pkg/models"
	"github.com/permitio/permit-golang/pkg/permit"
)

// kind describes the operations of the Terraform provider on one kind of resource.
type kind struct {
	name   string
	create func() error
	// read returns all parts that a configuration has, as plan and import need them.
	read func() (string, error)
	// want is the result of read after create, and changed the result after change.
	want, changed string
	// change updates the resource. It is nil if a changed configuration replaces the resource.
	change  func() error
	destroy func() error
}

// failure drops the result of a call.
func failure(_ any, err error) error { return err }

// cycle makes the calls for apply, plan, change, drift and destroy of one kind.
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
	// The provider re-creates a resource that does not exist, and stops for other errors.
	if found, err := one.read(); err == nil {
		note(one.name, "exists after destroy: "+found)
	} else if !strings.Contains(strings.ToLower(err.Error()), "not found") && err != errGone {
		note(one.name, "destroyed, but reported as "+err.Error())
	}
}

var errGone = fmt.Errorf("gone")

// joined returns the parts as a text.
func joined(err error, parts ...any) (string, error) {
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(fmt.Sprintln(parts...)), nil
}

func terraform(permits *permit.Client) {
	client := permits.Api
	ground(client)
	for _, one := range append(schemaKinds(client), factKinds(client)...) {
		cycle(one)
	}
}

// ground creates the entities on which the kinds depend.
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
				return failure(client.Resources.Create(ctx, body))
			},
			read: func() (string, error) {
				found, err := client.Resources.Get(ctx, "boat")
				return joined(err, found.GetName(), found.GetDescription(), len(found.GetActions()))
			},
			want: "Boat Floats 1", changed: "Ship Floats 1",
			change: func() error {
				return failure(client.Resources.Update(ctx, "boat", models.ResourceUpdate{Name: pointer("Ship")}))
			},
			destroy: func() error { return client.Resources.Delete(ctx, "boat") },
		},
		{
			name: "permitio_role (of tenants)",
			create: func() error {
				role := models.RoleCreate{Key: "captain", Name: "Captain", Permissions: []string{"document:read"}, Extends: []string{"editor"}}
				return failure(client.Roles.Create(ctx, role))
			},
			read: func() (string, error) {
				found, err := client.Roles.Get(ctx, "captain")
				return joined(err, found.GetName(), found.GetPermissions(), found.GetExtends())
			},
			want: "Captain [document:read] [editor]", changed: "Captain [folder:read] [editor]",
			change: func() error {
				return failure(client.Roles.Update(ctx, "captain", models.RoleUpdate{Permissions: []string{"folder:read"}}))
			},
			destroy: func() error { return client.Roles.Delete(ctx, "captain") },
		},
		{
			name: "permitio_role (of a resource)",
			create: func() error {
				role := models.ResourceRoleCreate{Key: "reader", Name: "Reader", Permissions: []string{"read"}, Extends: []string{"viewer"}}
				return failure(client.ResourceRoles.Create(ctx, "document", role))
			},
			read: func() (string, error) {
				found, err := client.ResourceRoles.Get(ctx, "document", "reader")
				return joined(err, found.GetName(), found.GetPermissions(), found.GetExtends())
			},
			want: "Reader [read] [viewer]", changed: "R [read] [viewer]",
			change: func() error {
				return failure(client.ResourceRoles.Update(ctx, "document", "reader", models.ResourceRoleUpdate{Name: pointer("R")}))
			},
			destroy: func() error { return client.ResourceRoles.Delete(ctx, "document", "reader") },
		},
		{
			name: "permitio_relation",
			create: func() error {
				return failure(client.ResourceRelations.Create(ctx, "folder", *models.NewRelationCreate("within", "Within", "folder")))
			},
			read: func() (string, error) {
				found, err := client.ResourceRelations.Get(ctx, "folder", "within")
				return joined(err, found.GetName(), found.GetSubjectResource())
			},
			want:    "Within folder",
			destroy: func() error { return client.ResourceRelations.Delete(ctx, "folder", "within") },
		},
		{
			name: "permitio_role_derivation",
			create: func() error {
				return failure(client.ImplicitGrants.Create(ctx, "document", "viewer", *models.NewDerivedRoleRuleCreate("owner", "folder", "parent")))
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
				return joined(nil, rule.GetRole(), rule.GetOnResource(), rule.GetLinkedByRelation())
			},
			want: "owner folder parent",
			destroy: func() error {
				return client.ImplicitGrants.Delete(ctx, "document", "viewer", *models.NewDerivedRoleRuleDelete("owner", "folder", "parent"))
			},
		},
		{
			name: "permitio_user_attribute",
			create: func() error {
				return failure(client.ResourceAttributes.Create(ctx, "__user", *models.NewResourceAttributeCreate("grade", models.NUMBER)))
			},
			read: func() (string, error) {
				found, err := client.ResourceAttributes.Get(ctx, "__user", "grade")
				return joined(err, found.GetType(), found.GetDescription())
			},
			want: "number", changed: "number High is good",
			change: func() error {
				body := models.ResourceAttributeUpdate{Description: pointer("High is good")}
				return failure(client.ResourceAttributes.Update(ctx, "__user", "grade", body))
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
		if found == nil { // the result of the client for an empty list
			return "", errGone
		}
		for _, one := range *found {
			if one.GetResourceInstance() == instance {
				return joined(nil, one.GetUser(), one.GetRole(), one.GetTenant(), instance)
			}
		}
		return "", errGone
	}
	return []kind{
		{
			name: "permitio_tenant",
			create: func() error {
				tenant := models.TenantCreate{Key: "umbrella", Name: "Umbrella", Attributes: map[string]any{"tier": "gold"}}
				return failure(client.Tenants.Create(ctx, tenant))
			},
			read: func() (string, error) {
				found, err := client.Tenants.Get(ctx, "umbrella")
				return joined(err, found.GetName(), found.GetAttributes())
			},
			want: "Umbrella map[tier:gold]", changed: "U map[tier:gold]",
			change: func() error {
				return failure(client.Tenants.Update(ctx, "umbrella", models.TenantUpdate{Name: pointer("U")}))
			},
			destroy: func() error { return client.Tenants.Delete(ctx, "umbrella") },
		},
		{
			name: "permitio_resource_instance",
			create: func() error {
				instance := models.ResourceInstanceCreate{Key: "d9", Resource: "document", Tenant: pointer("acme")}
				return failure(client.ResourceInstances.Create(ctx, instance))
			},
			read: func() (string, error) {
				found, err := client.ResourceInstances.Get(ctx, "document:d9")
				return joined(err, found.GetKey(), found.GetResource(), found.GetTenant(), found.GetAttributes())
			},
			want: "d9 document acme map[]", changed: "d9 document acme map[pages:9]",
			change: func() error {
				body := models.ResourceInstanceUpdate{Attributes: map[string]any{"pages": 9}}
				return failure(client.ResourceInstances.Update(ctx, "document:d9", body))
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
				return failure(client.ProxyConfigs.Create(ctx, config))
			},
			read: func() (string, error) {
				found, err := client.ProxyConfigs.Get(ctx, "gate")
				if err != nil {
					return "", err
				}
				rule := found.GetMappingRules()[0]
				return joined(nil, found.GetName(), found.GetAuthMechanism(), rule.Url, rule.HttpMethod, rule.Resource, *rule.Action)
			},
			want:    "Gate Basic https://shop.example.com/documents/{id} get document read",
			changed: "Door Basic https://shop.example.com/documents/{id} get document read",
			change: func() error {
				return failure(client.ProxyConfigs.Update(ctx, "gate", models.ProxyConfigUpdate{Name: pointer("Door")}))
			},
			destroy: func() error { return client.ProxyConfigs.Delete(ctx, "gate") },
		},
		{
			name:    "permitio_role_assignment",
			create:  func() error { return failure(client.Users.AssignRole(ctx, "ann", "editor", "acme")) },
			read:    func() (string, error) { return assigned("editor", "") },
			want:    "ann editor acme",
			destroy: func() error { return failure(client.Users.UnassignRole(ctx, "ann", "editor", "acme")) },
		},
		{
			name: "permitio_resource_instance_role_assignment",
			create: func() error {
				return failure(client.Users.AssignResourceRole(ctx, "ann", "owner", "acme", "folder:f1"))
			},
			read: func() (string, error) { return assigned("owner", "folder:f1") },
			want: "ann owner acme folder:f1",
			destroy: func() error {
				return failure(client.Users.UnassignResourceRole(ctx, "ann", "owner", "acme", "folder:f1"))
			},
		},
	}
}
