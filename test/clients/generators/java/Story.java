import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AuthZenApi;
import org.openapitools.client.api.DecisionsApi;
import org.openapitools.client.api.GroupsApi;
import org.openapitools.client.model.*;

/**
 * Makes calls with the `java` client of openapi-generator: a check, a bulk, a group with a member and a role,
 * and a search in pages. Arguments: address, environment key.
 */
public class Story {
  private static AllowedQuery question(String user, String action) {
    return new AllowedQuery()
        .user(new UserInQuery().key(user))
        .action(action)
        .resource(new ResourceInQuery().type("document").key("d1"));
  }

  private static List<List<String>> pages(AuthZenApi authzen) throws ApiException {
    List<List<String>> pages = new ArrayList<>();
    String token = null;
    do {
      ResourceSearchRequest body = new ResourceSearchRequest()
          .subject(new AccessEntity().type("user").id("alice"))
          .action(new AccessAction().name("read"))
          .resource(new AccessEntityType().type("document"))
          .page(new PageInSearch().limit(1).token(token));
      EntitySearchResponse found = authzen.searchResources(body, null, null);
      pages.add(found.getResults().stream().map(EntitySearchResponseResultsItem::getId).toList());
      token = found.getPage().getNextToken();
    } while (!token.isEmpty());
    return pages;
  }

  public static void main(String[] words) throws ApiException {
    ApiClient client = new ApiClient();
    client.setBasePath(words[0]);
    client.addDefaultHeader("Authorization", "Bearer " + words[1]);
    DecisionsApi decisions = new DecisionsApi(client);
    GroupsApi groups = new GroupsApi(client);
    Map<String, Object> results = new LinkedHashMap<>();
    results.put("check", decisions.isAllowed(question("alice", "read"), null, null).getAllow());
    List<AllowedQuery> questions = List.of(question("alice", "read"), question("alice", "update"));
    results.put("bulk", decisions.isAllowedBulk(questions, null, null).getAllow().stream().map(AllowedResult::getAllow).toList());
    results.put("before", decisions.isAllowed(question("bob", "read"), null, null).getAllow());
    groups.createGroup("default", "default", new GroupCreate().groupInstanceKey("staff").groupTenant("default"), null);
    groups.addGroupMember("default", "default", "staff", "bob", new GroupMemberBody().tenant("default"), null, null, null);
    GroupAddRole role = new GroupAddRole().role("viewer").resource("document").resourceInstance("d1").tenant("default");
    groups.addGroupRole("default", "default", "staff", role, null, null, null);
    results.put("after", decisions.isAllowed(question("bob", "read"), null, null).getAllow());
    results.put("pages", pages(new AuthZenApi(client)));
    System.out.println(new Gson().toJson(results));
  }
}
