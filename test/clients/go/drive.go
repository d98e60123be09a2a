// Calls every method of the published Go client, or makes the calls of the Terraform provider, which uses it.
// Prints the outcomes as JSON.
//
// Arguments: `methods`, `terraform` or `strict`, address, environment key. For `methods` also the organization
// key and the address of the OPA listener.
package main

import (
	"context"
	"os"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/permitio/permit-golang/pkg/api"
	"github.com/permitio/permit-golang/pkg/config"
	"github.com/permitio/permit-golang/pkg/enforcement"
	"github.com/permitio/permit-golang/pkg/models"
	"github.com/permitio/permit-golang/pkg/permit"
	"go.uber.org/zap"
)

var ctx = context.Background()

func client(address, key string, set func(*config.PermitConfig)) *permit.Client {
	builder := config.NewConfigBuilder(key).WithApiUrl(address).WithPdpUrl(address).WithLogger(zap.NewNop())
	set(builder)
	return permit.New(builder.Build())
}

func plain(*config.PermitConfig) {}

func pointer[Value any](value Value) *Value { return &value }

func idOf(a answer) uuid.UUID {
	id, _ := uuid.Parse(a.id())
	return id
}

func schema(permits *api.PermitApiClient) {
	resources := permits.Resources
	read := map[string]models.ActionBlockEditable{"read": {}}
	method("Resources.Create").got(resources.Create(ctx, *models.NewResourceCreate("folder", "Folder", read))).key("folder")
	body := *models.NewResourceCreate("document", "Document", map[string]models.ActionBlockEditable{"read": {}, "write": {}})
	body.Attributes = &map[string]models.AttributeBlockEditable{"size": {Type: models.NUMBER}}
	document := method("Resources.Create").got(resources.Create(ctx, body)).key("document")
	method("Resources.Get").got(resources.Get(ctx, "document")).key("document")
	method("Resources.GetByKey").got(resources.GetByKey(ctx, "document")).key("document")
	method("Resources.GetById").got(resources.GetById(ctx, idOf(document))).key("document")
	method("Resources.List").got(resources.List(ctx, 1, 100)).count(2)
	method("Resources.Search").got(resources.Search(ctx, 1, 100, "fold")).count(1).has(`"key":"folder"`)
	method("Resources.Update").got(resources.Update(ctx, "document", models.ResourceUpdate{Description: pointer("Written")})).has("Written")
	method("Resources.Create").got(resources.Create(ctx, *models.NewResourceCreate("spare", "Spare", read)))

	actions := permits.ResourceActions
	action := models.ResourceActionCreate{Key: "print", Name: "Print", Attributes: map[string]any{"paper": "a4"}}
	printing := method("ResourceActions.Create").got(actions.Create(ctx, "document", action)).key("print")
	method("ResourceActions.Get").got(actions.Get(ctx, "document", "print")).key("print")
	method("ResourceActions.GetByKey").got(actions.GetByKey(ctx, "document", "print")).key("print")
	method("ResourceActions.GetById").got(actions.GetById(ctx, idOf(document), idOf(printing))).key("print")
	method("ResourceActions.List").got(actions.List(ctx, "document", 1, 100)).count(3)
	paper := map[string]any{"paper": "a4"}
	method("ResourceActions.ListByAttributes").got(actions.ListByAttributes(ctx, "document", 1, 100, paper)).count(1).has("print")
	method("ResourceActions.Update").got(actions.Update(ctx, "document", "print", models.ResourceActionUpdate{Name: pointer("P")})).has(`"P"`)

	groups := permits.ResourceActionGroups
	group := models.ResourceActionGroupCreate{Key: "all", Name: "All", Actions: []string{"read"}, Attributes: paper}
	all := method("ResourceActionGroups.Create").got(groups.Create(ctx, "document", group)).key("all")
	method("ResourceActionGroups.Get").got(groups.Get(ctx, "document", "all")).key("all")
	method("ResourceActionGroups.GetByKey").got(groups.GetByKey(ctx, "document", "all")).key("all")
	method("ResourceActionGroups.GetById").got(groups.GetById(ctx, idOf(document), idOf(all))).key("all")
	method("ResourceActionGroups.List").got(groups.List(ctx, "document", 1, 100)).count(1)
	method("ResourceActionGroups.ListByAttributes").got(groups.ListByAttributes(ctx, "document", 1, 100, paper)).count(1)
	method("ResourceActionGroups.ListByAttributes").got(groups.ListByAttributes(ctx, "document", 1, 100, map[string]any{"paper": "a5"})).count(0)

	attributes := permits.ResourceAttributes
	owner := method("ResourceAttributes.Create").got(attributes.Create(ctx, "document", *models.NewResourceAttributeCreate("owner", models.STRING))).key("owner")
	method("ResourceAttributes.Get").got(attributes.Get(ctx, "document", "owner")).key("owner")
	method("ResourceAttributes.GetByKey").got(attributes.GetByKey(ctx, "document", "owner")).key("owner")
	method("ResourceAttributes.GetById").got(attributes.GetById(ctx, idOf(document), idOf(owner))).key("owner")
	method("ResourceAttributes.List").got(attributes.List(ctx, "document", 1, 100)).count(2)
	method("ResourceAttributes.Update").got(attributes.Update(ctx, "document", "owner", models.ResourceAttributeUpdate{Description: pointer("Who")})).has("Who")

	relations := permits.ResourceRelations
	method("ResourceRelations.Create").got(relations.Create(ctx, "document", *models.NewRelationCreate("parent", "Parent", "folder"))).key("parent")
	method("ResourceRelations.Get").got(relations.Get(ctx, "document", "parent")).key("parent")
	method("ResourceRelations.List").got(relations.List(ctx, 1, 100, "document")).has(`"key":"parent"`)

	resourceRoles(permits)
	tenantRoles(permits)
}

func resourceRoles(permits *api.PermitApiClient) {
	roles := permits.ResourceRoles
	method("ResourceRoles.Create").got(roles.Create(ctx, "folder", *models.NewResourceRoleCreate("owner", "Owner"))).key("owner")
	viewer := models.ResourceRoleCreate{Key: "viewer", Name: "Viewer", Permissions: []string{"read"}}
	method("ResourceRoles.Create").got(roles.Create(ctx, "document", viewer)).key("viewer")
	method("ResourceRoles.Create").got(roles.Create(ctx, "document", *models.NewResourceRoleCreate("chief", "Chief"))).key("chief")
	method("ResourceRoles.Get").got(roles.Get(ctx, "document", "viewer")).key("viewer")
	method("ResourceRoles.List").got(roles.List(ctx, 1, 100, "document")).count(2)
	method("ResourceRoles.Update").got(roles.Update(ctx, "document", "viewer", models.ResourceRoleUpdate{Description: pointer("Looks")})).has("Looks")
	method("ResourceRoles.AssignPermissions").got(roles.AssignPermissions(ctx, "document", "viewer", *models.NewAddRolePermissions([]string{"write"}))).has("write")
	method("ResourceRoles.RemovePermissions").got(roles.RemovePermissions(ctx, "document", "viewer", *models.NewRemoveRolePermissions([]string{"write"}))).has(`["read"]`)
	method("ResourceRoles.AddParent").got(roles.AddParent(ctx, "document", "chief", "viewer")).has("viewer")
	method("ResourceRoles.GetAncestors").got(roles.GetAncestors(ctx, "document", "chief")).has("viewer")
	method("ResourceRoles.GetDescendants").got(roles.GetDescendants(ctx, "document", "viewer")).has("chief")
	method("ResourceRoles.RemoveParent").got(roles.RemoveParent(ctx, "document", "chief", "viewer"))

	grants := permits.ImplicitGrants
	rule := *models.NewDerivedRoleRuleCreate("owner", "folder", "parent")
	method("ImplicitGrants.Create").got(grants.Create(ctx, "document", "viewer", rule)).has("folder")
	when := models.PermitBackendSchemasSchemaDerivedRoleRuleDerivationSettings{NoDirectRolesOnObject: pointer(false)}
	method("ImplicitGrants.UpdateConditions").got(grants.UpdateConditions(ctx, "document", "viewer", when))
	method("ImplicitGrants.Delete").did(grants.Delete(ctx, "document", "viewer", *models.NewDerivedRoleRuleDelete("owner", "folder", "parent")))
	method("ImplicitGrants.Create").got(grants.Create(ctx, "document", "viewer", rule))
}

func tenantRoles(permits *api.PermitApiClient) {
	roles := permits.Roles
	create := models.RoleCreate{Key: "editor", Name: "Editor", Permissions: []string{"document:write"}, Attributes: map[string]string{"grade": "b"}}
	editor := method("Roles.Create").got(roles.Create(ctx, create)).key("editor")
	method("Roles.Create").got(roles.Create(ctx, *models.NewRoleCreate("boss", "Boss"))).key("boss")
	method("Roles.Get").got(roles.Get(ctx, "editor")).key("editor")
	method("Roles.GetByKey").got(roles.GetByKey(ctx, "editor")).key("editor")
	method("Roles.GetById").got(roles.GetById(ctx, idOf(editor))).key("editor")
	method("Roles.List").got(roles.List(ctx, 1, 100)).count(2)
	method("Roles.ListByAttributes").got(roles.ListByAttributes(ctx, 1, 100, map[string]any{"grade": "b"})).count(1).has("editor")
	method("Roles.Update").got(roles.Update(ctx, "editor", models.RoleUpdate{Description: pointer("Edits")})).has("Edits")
	method("Roles.AssignPermissions").did(roles.AssignPermissions(ctx, "editor", []string{"document:read"}))
	method("Roles.RemovePermissions").did(roles.RemovePermissions(ctx, "editor", []string{"document:read"}))
	method("Roles.AddParentRole").did(roles.AddParentRole(ctx, "boss", "editor"))
	method("Roles.Get").got(roles.Get(ctx, "boss")).has(`"extends":["editor"]`)
	method("Roles.RemoveParentRole").did(roles.RemoveParentRole(ctx, "boss", "editor"))
}

func facts(permits *api.PermitApiClient) {
	tenants := permits.Tenants
	gold := map[string]any{"tier": "gold"}
	acme := method("Tenants.Create").got(tenants.Create(ctx, models.TenantCreate{Key: "acme", Name: "Acme", Attributes: gold})).key("acme")
	method("Tenants.Get").got(tenants.Get(ctx, "acme")).key("acme")
	method("Tenants.GetByKey").got(tenants.GetByKey(ctx, "acme")).key("acme")
	method("Tenants.GetById").got(tenants.GetById(ctx, idOf(acme))).key("acme")
	method("Tenants.List").got(tenants.List(ctx, 1, 100)).count(2)
	method("Tenants.ListByAttributes").got(tenants.ListByAttributes(ctx, gold, 1, 100)).count(1).has("acme")
	method("Tenants.Update").got(tenants.Update(ctx, "acme", models.TenantUpdate{Description: pointer("A customer")})).has("A customer")

	users := permits.Users
	ann := method("Users.Create").got(users.Create(ctx, models.UserCreate{Key: "ann", Email: pointer("ann@example.com"), Attributes: map[string]any{"level": 3}})).key("ann")
	method("Users.Get").got(users.Get(ctx, "ann")).key("ann")
	method("Users.GetByKey").got(users.GetByKey(ctx, "ann")).key("ann")
	method("Users.GetById").got(users.GetById(ctx, idOf(ann))).key("ann")
	method("Users.Update").got(users.Update(ctx, "ann", models.UserUpdate{FirstName: pointer("Ann")})).has("Ann")
	method("Users.SyncUser").got(users.SyncUser(ctx, models.UserCreate{Key: "bob"})).key("bob")
	method("Users.List").got(users.List(ctx, 1, 100)).count(2)
	method("Users.AssignRole").got(users.AssignRole(ctx, "ann", "editor", "acme")).has(`"role":"editor"`)
	method("Users.GetAssignedRoles").got(users.GetAssignedRoles(ctx, "ann", "acme", 1, 100)).count(1)
	method("Tenants.ListTenantUsers").got(tenants.ListTenantUsers(ctx, "acme", 1, 100)).count(1)
	method("Users.UnassignRole").got(users.UnassignRole(ctx, "ann", "editor", "acme"))
	method("Users.GetAssignedRoles").got(users.GetAssignedRoles(ctx, "ann", "acme", 1, 100)).count(0)

	roles := permits.Roles
	assignment := *models.NewRoleAssignmentCreate("editor", "acme", "ann")
	removal := *models.NewRoleAssignmentRemove("editor", "acme", "ann")
	method("Roles.BulkAssignRole").got(roles.BulkAssignRole(ctx, []models.RoleAssignmentCreate{assignment})).has(`"assignments_created":1`)
	method("Roles.BulkUnAssignRole").got(roles.BulkUnAssignRole(ctx, []models.RoleAssignmentRemove{removal})).has(`"assignments_removed":1`)
	method("Roles.BulkAssignRole").got(roles.BulkAssignRole(ctx, []models.RoleAssignmentCreate{assignment}))
	method("RoleAssignments.List").got(permits.RoleAssignments.List(ctx, 1, 100, "ann", "editor", "acme")).count(1)
	method("RoleAssignments.ListDetailed").got(permits.RoleAssignments.ListDetailed(ctx, 1, 100, "ann", "", "")).count(1).has(`"key":"editor"`)

	instances := permits.ResourceInstances
	folder := models.ResourceInstanceCreate{Key: "f1", Resource: "folder", Tenant: pointer("acme")}
	method("ResourceInstances.Create").got(instances.Create(ctx, folder)).key("f1")
	method("ResourceInstances.Create").got(instances.Create(ctx, models.ResourceInstanceCreate{Key: "d1", Resource: "document", Tenant: pointer("acme")}))
	method("ResourceInstances.Get").got(instances.Get(ctx, "folder:f1")).key("f1")
	method("ResourceInstances.List").got(instances.List(ctx, 1, 100, "acme", "folder", "")).count(1)
	method("ResourceInstances.ListDetailed").got(instances.ListDetailed(ctx, 1, 100, "acme", "", "")).count(2)
	method("ResourceInstances.Update").got(instances.Update(ctx, "folder:f1", models.ResourceInstanceUpdate{Attributes: map[string]any{"a": 1}})).has(`"a":1`)

	tuples := permits.RelationshipTuples
	link := *models.NewRelationshipTupleCreate("folder:f1", "parent", "document:d1")
	link.Tenant = pointer("acme")
	unlink := *models.NewRelationshipTupleDelete("folder:f1", "parent", "document:d1")
	method("RelationshipTuples.Create").got(tuples.Create(ctx, link)).has("document:d1")
	method("RelationshipTuples.List").got(tuples.List(ctx, 1, 100, "acme", "folder:f1", "parent", "document:d1")).count(1)
	method("RelationshipTuples.ListDetailed").got(tuples.ListDetailed(ctx, 1, 100, "acme", "", "", "")).count(1)
	method("RelationshipTuples.Delete").did(tuples.Delete(ctx, unlink))
	method("RelationshipTuples.BulkCreate").did(tuples.BulkCreate(ctx, *models.NewRelationshipTupleCreateBulkOperation([]models.RelationshipTupleCreate{link})))
	method("RelationshipTuples.BulkDelete").did(tuples.BulkDelete(ctx, *models.NewRelationshipTupleDeleteBulkOperation([]models.RelationshipTupleDelete{unlink})))
	method("RelationshipTuples.List").got(tuples.List(ctx, 1, 100, "", "", "", "")).count(0)
	method("RelationshipTuples.Create").got(tuples.Create(ctx, link))
	method("Users.AssignResourceRole").got(users.AssignResourceRole(ctx, "bob", "owner", "acme", "folder:f1")).has("folder:f1")
}

// conditions calls the methods of condition sets, their rules, and proxy configs.
func conditions(permits *api.PermitApiClient) {
	sets := permits.ConditionSets
	seniors := models.ConditionSetCreate{Key: "seniors", Name: "Seniors", Type: pointer(models.USERSET), Conditions: map[string]any{
		"allOf": []any{map[string]any{"user.level": map[string]any{"greater-than": 2}}},
	}}
	made := method("ConditionSets.Create").got(sets.Create(ctx, seniors)).key("seniors")
	small := models.ConditionSetCreate{
		Key: "small", Name: "Small", Type: pointer(models.RESOURCESET), ResourceId: &models.ResourceId{String: pointer("document")},
		Conditions: map[string]any{"allOf": []any{map[string]any{"resource.size": map[string]any{"less-than": 5}}}},
	}
	method("ConditionSets.Create").got(sets.Create(ctx, small)).key("small")
	method("ConditionSets.Get").got(sets.Get(ctx, "seniors")).key("seniors")
	method("ConditionSets.GetByKey").got(sets.GetByKey(ctx, "seniors")).key("seniors")
	method("ConditionSets.GetById").got(sets.GetById(ctx, idOf(made))).key("seniors")
	method("ConditionSets.List").got(sets.List(ctx, 1, 100)).count(2)
	method("ConditionSets.Update").got(sets.Update(ctx, "seniors", models.ConditionSetUpdate{Name: pointer("Elders")})).has("Elders")
	method("ConditionSets.AssignSetPermissions").got(sets.AssignSetPermissions(ctx, "seniors", "document:read", "small")).has("seniors")
	method("ConditionSets.ListSetPermissions").got(sets.ListSetPermissions(ctx, "seniors", "document:read", "small")).count(1)

	proxies := permits.ProxyConfigs
	create := *models.NewProxyConfigCreate("secret", "gate", "Gate")
	create.MappingRules = []models.MappingRule{*models.NewMappingRule("https://shop.example.com/documents", models.GET, "document")}
	create.MappingRules[0].Action = pointer("read")
	gate := method("ProxyConfigs.Create").got(proxies.Create(ctx, create)).key("gate")
	method("ProxyConfigs.Get").got(proxies.Get(ctx, "gate")).key("gate")
	method("ProxyConfigs.GetByKey").got(proxies.GetByKey(ctx, "gate")).key("gate")
	method("ProxyConfigs.GetById").got(proxies.GetById(ctx, idOf(gate))).key("gate")
	method("ProxyConfigs.List").got(proxies.List(ctx, 1, 100)).count(1)
	method("ProxyConfigs.Update").got(proxies.Update(ctx, "gate", models.ProxyConfigUpdate{Name: pointer("Door")})).has("Door")
	method("ProxyConfigs.Delete").did(proxies.Delete(ctx, "gate"))
}

// decisions makes checks through the service or its OPA listener. The prefix distinguishes their outcomes.
func decisions(permits *permit.Client, prefix string) {
	user := func(key string) enforcement.User { return enforcement.UserBuilder(key).Build() }
	type_ := enforcement.ResourceBuilder("document").WithTenant("acme").Build()
	instance := enforcement.ResourceBuilder("document").WithKey("d1").WithTenant("acme").Build()
	small := enforcement.ResourceBuilder("document").WithTenant("acme").WithAttributes(map[string]any{"size": 3}).Build()
	at := func(name string) method { return method(prefix + name) }
	at("Check").got(permits.Check(user("ann"), "write", type_)).equals(true)
	at("Check").got(permits.Check(user("bob"), "read", instance)).equals(true)
	at("Check").got(permits.Check(user("bob"), "write", instance)).equals(false)
	at("Check").got(permits.Check(user("ann"), "read", small)).equals(true)
	questions := []enforcement.CheckRequest{
		*enforcement.NewCheckRequest(user("ann"), "write", type_, nil),
		*enforcement.NewCheckRequest(user("bob"), "write", type_, nil),
	}
	at("BulkCheck").got(permits.BulkCheck(questions...)).equals([]bool{true, false})
	at("FilterObjects").got(permits.FilterObjects(user("ann"), "write", nil, &type_, &instance)).count(2)
	at("FilterObjects").got(permits.FilterObjects(user("bob"), "write", nil, &type_)).count(0)
	at("AllTenantsCheck").got(permits.AllTenantsCheck(user("ann"), "write", enforcement.Resource{Type: "document"})).count(1).has("acme")
	at("GetUserPermissions").got(permits.GetUserPermissions(user("ann"), "acme")).has("__tenant:acme")
	of := enforcement.WithResourceTypes([]string{"document"})
	at("GetUserPermissionsWithOptions").got(permits.GetUserPermissionsWithOptions(user("bob"), of)).has("document:d1")
}

// throughDecisionPoint writes facts through the decision point and waits for them.
func throughDecisionPoint(permits *api.PermitApiClient) {
	timeout := 5 * time.Second
	options := api.WaitForSyncOptions{Policy: config.FactsSyncTimeoutPolicyFail}
	method("Users.WaitForSync").got(permits.Users.WaitForSync(&timeout, options).Create(ctx, *models.NewUserCreate("cid"))).key("cid")
	method("Tenants.WaitForSync").got(permits.Tenants.WaitForSync(&timeout, options).Create(ctx, *models.NewTenantCreate("wait", "Wait"))).key("wait")
	method("RoleAssignments.WaitForSync").got(permits.RoleAssignments.WaitForSync(&timeout, options).List(ctx, 1, 100, "ann", "", "")).count(1)
	method("ResourceInstances.WaitForSync").got(permits.ResourceInstances.WaitForSync(&timeout, options).Get(ctx, "folder:f1")).key("f1")
	method("RelationshipTuples.WaitForSync").got(permits.RelationshipTuples.WaitForSync(nil, options).List(ctx, 1, 100, "", "", "", "")).count(1)
}

func undo(permits *api.PermitApiClient) {
	method("ConditionSets.UnassignSetPermissions").did(permits.ConditionSets.UnassignSetPermissions(ctx, "seniors", "document:read", "small"))
	method("ConditionSets.Delete").did(permits.ConditionSets.Delete(ctx, "seniors"))
	method("Users.UnassignResourceRole").got(permits.Users.UnassignResourceRole(ctx, "bob", "owner", "acme", "folder:f1"))
	method("ResourceInstances.Delete").did(permits.ResourceInstances.Delete(ctx, "folder:f1"))
	method("Users.Delete").did(permits.Users.Delete(ctx, "bob"))
	method("Tenants.Delete").did(permits.Tenants.Delete(ctx, "acme"))
	method("Roles.Delete").did(permits.Roles.Delete(ctx, "editor"))
	method("ResourceRoles.Delete").did(permits.ResourceRoles.Delete(ctx, "document", "viewer"))
	method("ResourceRelations.Delete").did(permits.ResourceRelations.Delete(ctx, "document", "parent"))
	method("ResourceAttributes.Delete").did(permits.ResourceAttributes.Delete(ctx, "document", "owner"))
	method("ResourceActionGroups.Delete").did(permits.ResourceActionGroups.Delete(ctx, "document", "all"))
	method("ResourceActions.Delete").did(permits.ResourceActions.Delete(ctx, "document", "print"))
	method("Resources.Delete").did(permits.Resources.Delete(ctx, "document"))
	method("Resources.List").got(permits.Resources.List(ctx, 1, 100)).count(2)
}

func organization(permits *api.PermitApiClient) {
	projects := permits.Projects
	shop := method("Projects.Create").got(projects.Create(ctx, *models.NewProjectCreate("shop", "Shop"))).key("shop")
	method("Projects.Get").got(projects.Get(ctx, "shop")).key("shop")
	method("Projects.GetByKey").got(projects.GetByKey(ctx, "shop")).key("shop")
	method("Projects.GetById").got(projects.GetById(ctx, idOf(shop))).key("shop")
	method("Projects.List").got(projects.List(ctx, 1, 100)).count(2)
	method("Projects.Update").got(projects.Update(ctx, "shop", models.ProjectUpdate{Name: pointer("Store")})).has("Store")

	permits.SetContext(ctx, "shop", "staging")
	note("Api.SetContext", works)
	environments := permits.Environments
	staging := method("Environments.Create").got(environments.Create(ctx, *models.NewEnvironmentCreate("staging", "Staging"))).key("staging")
	method("Environments.Get").got(environments.Get(ctx, "staging")).key("staging")
	method("Environments.GetByKey").got(environments.GetByKey(ctx, "staging")).key("staging")
	method("Environments.GetById").got(environments.GetById(ctx, idOf(staging))).key("staging")
	method("Environments.List").got(environments.List(ctx, 1, 100)).count(3)
	method("Environments.Update").got(environments.Update(ctx, "staging", models.EnvironmentUpdate{Name: pointer("Stage")})).has("Stage")
	method("Environments.Delete").did(environments.Delete(ctx, "staging"))
	method("Projects.Delete").did(projects.Delete(ctx, "shop"))
}

// objects returns the objects of the client with public methods, by name.
func objects(permits *permit.Client) map[string]any {
	found := map[string]any{"Client": permits, "Api": permits.Api}
	fields := reflect.ValueOf(permits.Api).Elem()
	for index := range fields.NumField() {
		if field := fields.Type().Field(index); field.IsExported() && field.Name != "Elements" {
			found[field.Name] = fields.Field(index).Interface()
		}
	}
	return found
}

func methods(address, key, adminKey, opa string) {
	permits := client(address, key, plain)
	schema(permits.Api)
	facts(permits.Api)
	conditions(permits.Api)
	decisions(permits, "Client.")
	decisions(client(address, key, func(set *config.PermitConfig) { set.WithOpaUrl(opa) }), "Client (OPA).")
	method("Client.SyncUser").got(permits.SyncUser(ctx, models.UserCreate{Key: "dan"})).key("dan")
	throughDecisionPoint(client(address, key, func(set *config.PermitConfig) { set.WithProxyFactsViaPDP(true) }).Api)
	undo(permits.Api)
	organization(client(address, adminKey, plain).Api)
	expectAll(objects(permits))
}

func main() {
	switch os.Args[1] {
	case "terraform":
		terraform(client(os.Args[2], os.Args[3], plain))
	case "strict":
		strict(os.Args[2], os.Args[3])
	default:
		methods(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	}
	printOutcomes()
}
