import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.permit.sdk.Permit;
import io.permit.sdk.PermitConfig;
import io.permit.sdk.PermitContext;
import io.permit.sdk.api.ApiClient;
import io.permit.sdk.api.BaseApi;
import io.permit.sdk.enforcement.CheckQuery;
import io.permit.sdk.enforcement.GetUserPermissionsQuery;
import io.permit.sdk.enforcement.Resource;
import io.permit.sdk.enforcement.User;
import io.permit.sdk.openapi.models.*;
import io.permit.sdk.util.Context;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * Calls every method of the published Java client and prints the outcomes as JSON. Arguments: address,
 * environment key, organization key, address of the OPA listener.
 */
class Drive {
  private static final String WORKS = "works";
  private static final Gson GSON = new Gson();
  /** For each `object.method`, the text "works" or the first error. */
  private static final Map<String, String> outcomes = new TreeMap<>();

  interface Action {
    void run() throws Exception;
  }

  /** The result of a method as JSON. Its checks note unexpected results. */
  record Answer(String method, JsonElement value) {
    Answer has(String text) {
      if (value != null && !value.toString().contains(text)) {
        note(method, "expected " + text + ", got " + value);
      }
      return this;
    }

    Answer key(String key) {
      return has("\"key\":\"" + key + "\"");
    }

    Answer count(int expected) {
      if (value == null) return this;
      JsonArray list = value.isJsonArray() ? value.getAsJsonArray() : value.getAsJsonObject().getAsJsonArray("data");
      if (list.size() != expected) note(method, "expected " + expected + " entries, got " + value);
      return this;
    }

    Answer is(Object expected) {
      if (value != null && !value.equals(GSON.toJsonTree(expected))) note(method, "expected " + expected + ", got " + value);
      return this;
    }

    UUID id() {
      return value == null ? new UUID(0, 0) : UUID.fromString(value.getAsJsonObject().get("id").getAsString());
    }
  }

  private static void note(String method, String outcome) {
    String before = outcomes.get(method);
    if (before != null && !before.equals(WORKS)) return;
    outcomes.put(method, outcome.substring(0, Math.min(outcome.length(), 400)));
  }

  private static Answer got(String method, Callable<?> call) {
    try {
      JsonElement value = GSON.toJsonTree(call.call());
      note(method, WORKS);
      return new Answer(method, value);
    } catch (Throwable fault) {
      note(method, fault.getClass().getSimpleName() + ": " + fault.getMessage());
      return new Answer(method, null);
    }
  }

  private static void did(String method, Action action) {
    got(method, () -> {
      action.run();
      return true;
    });
  }

  private static HashMap<String, Object> attributes(String name, Object value) {
    return new HashMap<>(Map.of(name, value));
  }

  private static HashMap<String, ActionBlockEditable> actions(String... keys) {
    HashMap<String, ActionBlockEditable> actions = new HashMap<>();
    for (String key : keys) actions.put(key, new ActionBlockEditable());
    return actions;
  }

  private static void schema(ApiClient api) {
    got("resources.create", () -> api.resources.create(new ResourceCreate("folder", "Folder", actions("read")))).key("folder");
    Answer document = got("resources.create", () -> api.resources.create(new ResourceCreate("document", "Document", actions("read", "write")))).key("document");
    UUID resource = document.id();
    got("resources.get", () -> api.resources.get("document")).key("document");
    got("resources.getByKey", () -> api.resources.getByKey("document")).key("document");
    got("resources.getById", () -> api.resources.getById(resource)).key("document");
    got("resources.list", () -> api.resources.list()).count(2);
    got("resources.list", () -> api.resources.list(2, 1)).count(1).key("document");
    got("resources.update", () -> api.resources.update("document", new ResourceUpdate().withDescription("Written"))).has("Written");
    got("resources.create", () -> api.resources.create(new ResourceCreate("spare", "Spare", actions("read"))));
    got("resources.replace", () -> api.resources.replace("spare", new ResourceReplace("Other", actions("write")))).has("Other");

    UUID action = got("resourceActions.create", () -> api.resourceActions.create("document", new ResourceActionCreate("print", "Print"))).key("print").id();
    got("resourceActions.get", () -> api.resourceActions.get("document", "print")).key("print");
    got("resourceActions.getByKey", () -> api.resourceActions.getByKey("document", "print")).key("print");
    got("resourceActions.getById", () -> api.resourceActions.getById(resource, action)).key("print");
    got("resourceActions.list", () -> api.resourceActions.list("document")).count(3);
    got("resourceActions.update", () -> api.resourceActions.update("document", "print", new ResourceActionUpdate().withName("P"))).has("\"P\"");

    UUID group = got("resourceActionGroups.create", () -> api.resourceActionGroups.create("document", new ResourceActionGroupCreate("all", "All").withActions(List.of("read")))).key("all").id();
    got("resourceActionGroups.get", () -> api.resourceActionGroups.get("document", "all")).key("all");
    got("resourceActionGroups.getByKey", () -> api.resourceActionGroups.getByKey("document", "all")).key("all");
    got("resourceActionGroups.getById", () -> api.resourceActionGroups.getById(resource, group)).key("all");
    got("resourceActionGroups.list", () -> api.resourceActionGroups.list("document")).count(1);
    got("resourceActionGroups.update", () -> api.resourceActionGroups.update("document", "all", new ResourceActionGroupUpdate().withName("Each"))).has("Each");

    UUID attribute = got("resourceAttributes.create", () -> api.resourceAttributes.create("document", new ResourceAttributeCreate("size", AttributeType.NUMBER))).key("size").id();
    got("resourceAttributes.get", () -> api.resourceAttributes.get("document", "size")).key("size");
    got("resourceAttributes.getByKey", () -> api.resourceAttributes.getByKey("document", "size")).key("size");
    got("resourceAttributes.getById", () -> api.resourceAttributes.getById(resource, attribute)).key("size");
    got("resourceAttributes.list", () -> api.resourceAttributes.list("document")).count(1);
    got("resourceAttributes.update", () -> api.resourceAttributes.update("document", "size", new ResourceAttributeUpdate().withDescription("Bytes"))).has("Bytes");

    UUID relation = got("resourceRelations.create", () -> api.resourceRelations.create("document", new RelationCreate("parent", "Parent", "folder"))).key("parent").id();
    got("resourceRelations.get", () -> api.resourceRelations.get("document", "parent")).key("parent");
    got("resourceRelations.getByKey", () -> api.resourceRelations.getByKey("document", "parent")).key("parent");
    got("resourceRelations.getById", () -> api.resourceRelations.getById(resource, relation)).key("parent");
    got("resourceRelations.list", () -> api.resourceRelations.list("document")).count(1);
    resourceRoles(api, resource);
    roles(api);
  }

  private static void resourceRoles(ApiClient api, UUID resource) {
    got("resourceRoles.create", () -> api.resourceRoles.create("folder", new ResourceRoleCreate("owner", "Owner"))).key("owner");
    UUID role = got("resourceRoles.create", () -> api.resourceRoles.create("document", new ResourceRoleCreate("viewer", "Viewer").withPermissions(List.of("read")))).key("viewer").id();
    got("resourceRoles.get", () -> api.resourceRoles.get("document", "viewer")).key("viewer");
    got("resourceRoles.getByKey", () -> api.resourceRoles.getByKey("document", "viewer")).key("viewer");
    got("resourceRoles.getById", () -> api.resourceRoles.getById(resource, role)).key("viewer");
    got("resourceRoles.list", () -> api.resourceRoles.list("document")).count(1);
    got("resourceRoles.update", () -> api.resourceRoles.update("document", "viewer", new ResourceRoleUpdate().withDescription("Looks"))).has("Looks");
    got("resourceRoles.assignPermissions", () -> api.resourceRoles.assignPermissions("document", "viewer", new ArrayList<>(List.of("write")))).has("write");
    got("resourceRoles.removePermissions", () -> api.resourceRoles.removePermissions("document", "viewer", new ArrayList<>(List.of("write")))).has("[\"read\"]");
    DerivedRoleRuleCreate rule = new DerivedRoleRuleCreate("owner", "folder", "parent");
    got("resourceRoles.createRoleDerivation", () -> api.resourceRoles.createRoleDerivation("document", "viewer", rule)).has("folder");
    got("resourceRoles.updateRoleDerivationConditions", () -> api.resourceRoles.updateRoleDerivationConditions("document", "viewer", new DerivedRoleSettings().withNoDirectRolesOnObject(false)));
    did("resourceRoles.deleteRoleDerivation", () -> api.resourceRoles.deleteRoleDerivation("document", "viewer", new DerivedRoleRuleDelete("owner", "folder", "parent")));
    got("resourceRoles.createRoleDerivation", () -> api.resourceRoles.createRoleDerivation("document", "viewer", rule));
  }

  private static void roles(ApiClient api) {
    UUID role = got("roles.create", () -> api.roles.create(new RoleCreate("editor", "Editor").withPermissions(List.of("document:write")))).key("editor").id();
    got("roles.get", () -> api.roles.get("editor")).key("editor");
    got("roles.getByKey", () -> api.roles.getByKey("editor")).key("editor");
    got("roles.getById", () -> api.roles.getById(role)).key("editor");
    got("roles.list", () -> api.roles.list()).count(1);
    got("roles.update", () -> api.roles.update("editor", new RoleUpdate().withDescription("Edits"))).has("Edits");
    got("roles.assignPermissions", () -> api.roles.assignPermissions("editor", new ArrayList<>(List.of("document:read")))).has("document:read");
    got("roles.removePermissions", () -> api.roles.removePermissions("editor", new ArrayList<>(List.of("document:read")))).has("[\"document:write\"]");
  }

  private static void facts(ApiClient api) {
    UUID tenant = got("tenants.create", () -> api.tenants.create(new TenantCreate("acme", "Acme"))).key("acme").id();
    got("tenants.get", () -> api.tenants.get("acme")).key("acme");
    got("tenants.getByKey", () -> api.tenants.getByKey("acme")).key("acme");
    got("tenants.getById", () -> api.tenants.getById(tenant)).key("acme");
    got("tenants.list", () -> api.tenants.list()).count(2);
    got("tenants.update", () -> api.tenants.update("acme", new TenantUpdate().withDescription("A customer"))).has("A customer");

    UUID user = got("users.create", () -> api.users.create(new UserCreate("ann").withEmail("ann@example.com").withAttributes(attributes("level", 3)))).key("ann").id();
    got("users.get", () -> api.users.get("ann")).key("ann");
    got("users.getByKey", () -> api.users.getByKey("ann")).key("ann");
    got("users.getById", () -> api.users.getById(user)).key("ann");
    got("users.update", () -> api.users.update("ann", new UserUpdate().withFirstName("Ann"))).has("Ann");
    got("users.sync", () -> api.users.sync(new UserCreate("bob"))).has("true").key("bob");
    got("users.sync", () -> api.users.sync(new User.Builder("bob").withEmail("bob@example.com").build())).has("false").has("bob@example.com");
    got("users.list", () -> api.users.list()).count(2);
    got("users.assignRole", () -> api.users.assignRole("ann", "editor", "acme")).has("\"role\":\"editor\"");
    got("users.getAssignedRoles", () -> api.users.getAssignedRoles("ann")).count(1);
    got("users.getAssignedRoles", () -> api.users.getAssignedRoles("ann", "default", 1, 10)).count(0);
    got("tenants.listTenantUsers", () -> api.tenants.listTenantUsers("acme")).count(1);
    did("users.unassignRole", () -> api.users.unassignRole("ann", "editor", "acme"));

    RoleAssignmentCreate assignment = new RoleAssignmentCreate("editor", "ann").withTenant("acme");
    RoleAssignmentRemove removal = new RoleAssignmentRemove("editor", "ann").withTenant("acme");
    got("roleAssignments.assign", () -> api.roleAssignments.assign(assignment)).has("editor");
    got("roleAssignments.list", () -> api.roleAssignments.list()).count(1);
    got("roleAssignments.list", () -> api.roleAssignments.list("ann", "acme", "editor")).count(1);
    did("roleAssignments.unassign", () -> api.roleAssignments.unassign(removal));
    got("roleAssignments.bulkAssign", () -> api.roleAssignments.bulkAssign(List.of(assignment))).has("1");
    got("roleAssignments.bulkUnassign", () -> api.roleAssignments.bulkUnassign(List.of(removal))).has("1");
    got("roleAssignments.assign", () -> api.roleAssignments.assign(assignment));

    UUID folder = got("resourceInstances.create", () -> api.resourceInstances.create(new ResourceInstanceCreate("f1", "folder").withTenant("acme"))).key("f1").id();
    got("resourceInstances.create", () -> api.resourceInstances.create(new ResourceInstanceCreate("d1", "document").withTenant("acme"))).key("d1");
    got("resourceInstances.get", () -> api.resourceInstances.get("folder:f1")).key("f1");
    got("resourceInstances.getByKey", () -> api.resourceInstances.getByKey("folder:f1")).key("f1");
    got("resourceInstances.getById", () -> api.resourceInstances.getById(folder)).key("f1");
    got("resourceInstances.list", () -> api.resourceInstances.list()).count(2);
    got("resourceInstances.update", () -> api.resourceInstances.update("folder:f1", new ResourceInstanceUpdate().withAttributes(new Attributes()))).key("f1");

    RelationshipTupleCreate link = new RelationshipTupleCreate("folder:f1", "parent", "document:d1").withTenant("acme");
    got("relationshipTuples.create", () -> api.relationshipTuples.create(link)).has("document:d1");
    got("relationshipTuples.list", () -> api.relationshipTuples.list()).count(1);
    did("relationshipTuples.delete", () -> api.relationshipTuples.delete(new RelationshipTupleDelete("folder:f1", "parent", "document:d1")));
    got("relationshipTuples.create", () -> api.relationshipTuples.create(link));
    got("roleAssignments.assign", () -> api.roleAssignments.assign(new RoleAssignmentCreate("owner", "bob").withTenant("acme").withResourceInstance("folder:f1")));
  }

  private static void groups(ApiClient api) {
    got("groups.create", () -> api.groups.create(new GroupCreate("staff", "acme"))).has("staff");
    String id = got("resourceInstances.get", () -> api.resourceInstances.get("group:staff")).id().toString();
    got("groups.get", () -> api.groups.get("staff")).has("staff");
    got("groups.getByKey", () -> api.groups.getByKey("staff")).has("staff");
    got("groups.getById", () -> api.groups.getById(UUID.fromString(id))).has("staff");
    got("groups.list", () -> api.groups.list()).count(1);
    GroupAddRole role = new GroupAddRole("viewer", "d1", "document", "acme");
    got("groups.assignUserToGroup", () -> api.groups.assignUserToGroup("bob", "staff", "acme")).has("\"users\":[\"");
    got("groups.assignRoleToGroup", () -> api.groups.assignRoleToGroup("staff", role)).has("document:d1#viewer");
    did("groups.removeRoleFromGroup", () -> api.groups.removeRoleFromGroup("staff", role));
    did("groups.removeUserFromGroup", () -> api.groups.removeUserFromGroup("bob", "staff", "acme"));
    got("groups.get", () -> api.groups.get("staff")).has("\"users\":[]");
    did("groups.delete", () -> api.groups.delete("staff"));
  }

  private static void conditions(ApiClient api) {
    HashMap<String, Object> senior = attributes("allOf", List.of(Map.of("user.level", Map.of("greater-than", 2))));
    HashMap<String, Object> small = attributes("allOf", List.of(Map.of("resource.size", Map.of("less-than", 5))));
    UUID set = got("conditionSets.create", () -> api.conditionSets.create(new ConditionSetCreate("seniors", "Seniors").withType(ConditionSetType.USERSET).withConditions(senior))).key("seniors").id();
    got("conditionSets.create", () -> api.conditionSets.create(new ConditionSetCreate("small", "Small").withType(ConditionSetType.RESOURCESET).withResourceId("document").withConditions(small))).key("small");
    got("conditionSets.get", () -> api.conditionSets.get("seniors")).key("seniors");
    got("conditionSets.getByKey", () -> api.conditionSets.getByKey("seniors")).key("seniors");
    got("conditionSets.getById", () -> api.conditionSets.getById(set)).key("seniors");
    got("conditionSets.list", () -> api.conditionSets.list()).count(2);
    got("conditionSets.update", () -> api.conditionSets.update("seniors", new ConditionSetUpdate().withName("Elders"))).has("Elders");
    got("conditionSetRules.create", () -> api.conditionSetRules.create(new ConditionSetRuleCreate("seniors", "document:read", "small"))).has("seniors");
    got("conditionSetRules.list", () -> api.conditionSetRules.list()).count(1);
    got("conditionSetRules.list", () -> api.conditionSetRules.list("seniors", "document:read", "small")).count(1);
  }

  private static void decisions(Permit permit) {
    User ann = User.fromString("ann");
    User bob = User.fromString("bob");
    Resource type = new Resource.Builder("document").withTenant("acme").build();
    Resource instance = new Resource.Builder("document").withKey("d1").withTenant("acme").build();
    Resource small = new Resource.Builder("document").withTenant("acme").withAttributes(attributes("size", 3)).build();
    got("permit.check", () -> permit.check(ann, "write", type)).is(true);
    got("permit.check", () -> permit.check(bob, "read", instance)).is(true);
    got("permit.check", () -> permit.check(bob, "write", instance, new Context())).is(false);
    got("permit.check", () -> permit.check(ann, "read", small)).is(true);
    List<CheckQuery> questions = List.of(new CheckQuery(ann, "write", type), new CheckQuery(bob, "write", type));
    got("permit.bulkCheck", () -> permit.bulkCheck(questions)).is(new boolean[] {true, false});
    got("permit.checkInAllTenants", () -> permit.checkInAllTenants(ann, "write", Resource.fromString("document"))).count(1).key("acme");
    got("permit.checkUrl", () -> permit.checkUrl(ann, "GET", "https://shop.example.com/documents", "acme")).is(false);
    got("permit.getUserPermissions", () -> permit.getUserPermissions(new GetUserPermissionsQuery(ann))).has("__tenant:acme");
    got("permit.getUserPermissionsFromOPA", () -> permit.getUserPermissionsFromOPA(new GetUserPermissionsQuery(bob))).has("document:d1");
    got("permit.getUserTenants", () -> permit.getUserTenants(ann)).count(1).key("acme");
  }

  /** Methods that the client keeps for users of its first version. */
  private static void deprecated(ApiClient api) {
    got("api.getUser", () -> api.getUser("ann")).key("ann");
    got("api.getRole", () -> api.getRole("editor")).key("editor");
    got("api.getTenant", () -> api.getTenant("acme")).key("acme");
    got("api.getAssignedRoles", () -> api.getAssignedRoles("ann", "acme")).count(1);
    got("api.getAssignedRolesInAllTenants", () -> api.getAssignedRolesInAllTenants("ann")).count(1);
    got("api.syncUser", () -> api.syncUser(new UserCreate("eve"))).key("eve");
    got("api.createTenant", () -> api.createTenant(new TenantCreate("umbrella", "Umbrella"))).key("umbrella");
    got("api.updateTenant", () -> api.updateTenant("umbrella", new TenantUpdate().withName("U"))).has("\"U\"");
    got("api.assignRole", () -> api.assignRole("eve", "editor", "umbrella")).has("umbrella");
    did("api.unassignRole", () -> api.unassignRole("eve", "editor", "umbrella"));
    did("api.deleteTenant", () -> api.deleteTenant("umbrella"));
    did("api.deleteUser", () -> api.deleteUser("eve"));
  }

  private static void undo(ApiClient api) {
    did("conditionSetRules.delete", () -> api.conditionSetRules.delete(new ConditionSetRuleRemove("seniors", "document:read", "small")));
    did("conditionSets.delete", () -> api.conditionSets.delete("seniors"));
    did("resourceInstances.delete", () -> api.resourceInstances.delete("folder:f1"));
    did("users.delete", () -> api.users.delete("bob"));
    did("tenants.delete", () -> api.tenants.delete("acme"));
    did("roles.delete", () -> api.roles.delete("editor"));
    did("resourceRoles.delete", () -> api.resourceRoles.delete("document", "viewer"));
    did("resourceRelations.delete", () -> api.resourceRelations.delete("document", "parent"));
    did("resourceAttributes.delete", () -> api.resourceAttributes.delete("document", "size"));
    did("resourceActionGroups.delete", () -> api.resourceActionGroups.delete("document", "all"));
    did("resourceActions.delete", () -> api.resourceActions.delete("document", "print"));
    did("resources.delete", () -> api.resources.delete("document"));
  }

  private static void organization(ApiClient api) {
    UUID project = got("projects.create", () -> api.projects.create(new ProjectCreate("shop", "Shop"))).key("shop").id();
    got("projects.get", () -> api.projects.get("shop")).key("shop");
    got("projects.getByKey", () -> api.projects.getByKey("shop")).key("shop");
    got("projects.getById", () -> api.projects.getById(project)).key("shop");
    got("projects.list", () -> api.projects.list()).count(2);
    got("projects.update", () -> api.projects.update("shop", new ProjectUpdate().withName("Store"))).has("Store");
    UUID environment = got("environments.create", () -> api.environments.create("shop", new EnvironmentCreate("staging", "Staging"))).key("staging").id();
    got("environments.get", () -> api.environments.get("shop", "staging")).key("staging");
    got("environments.getByKey", () -> api.environments.getByKey("shop", "staging")).key("staging");
    got("environments.getById", () -> api.environments.getById(project, environment)).key("staging");
    got("environments.list", () -> api.environments.list("shop")).count(3);
    got("environments.update", () -> api.environments.update("shop", "staging", new EnvironmentUpdate().withName("Stage"))).has("Stage");
    EnvironmentCopyTarget target = new EnvironmentCopyTarget().withNew(new EnvironmentCreate("copy", "Copy"));
    got("environments.copy", () -> api.environments.copy("shop", "staging", new EnvironmentCopy(target))).key("copy");
    did("environments.delete", () -> api.environments.delete("shop", "copy"));
    did("projects.delete", () -> api.projects.delete("shop"));
  }

  private static void expectAll(String name, Class<?> type) {
    for (var method : type.getDeclaredMethods()) {
      if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic()) {
        outcomes.putIfAbsent(name + "." + method.getName(), "not called");
      }
    }
  }

  private static Permit permit(String address, String key, String opa) {
    return new Permit(new PermitConfig.Builder(key).withApiUrl(address).withPdpAddress(address).withOpaAddress(opa).build());
  }

  public static void main(String[] words) {
    Permit permit = permit(words[0], words[1], words[3]);
    schema(permit.api);
    facts(permit.api);
    groups(permit.api);
    conditions(permit.api);
    decisions(permit);
    deprecated(permit.api);
    undo(permit.api);
    organization(permit(words[0], words[2], words[3]).api);
    expectAll("permit", Permit.class);
    expectAll("api", ApiClient.class);
    for (Field field : ApiClient.class.getFields()) {
      if (BaseApi.class.isAssignableFrom(field.getType()) && !field.getName().equals("elements")) {
        expectAll(field.getName(), field.getType());
      }
    }
    System.out.println(GSON.toJson(outcomes));
  }
}
