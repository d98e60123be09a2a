package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/permitio/permit-golang/pkg/models"
)

// Up to permit-golang 1.2.6, the decoders of these two records reject unknown members. Later models have
// methods that accept them. These types omit the methods, so that a strict decoder reads the records.
type assignment models.RoleAssignmentRead
type withoutMethods models.RoleAssignmentDetailedRead

// The role has members that are newer than the models: `name` and `permissions`.
type detailedAssignment struct {
	withoutMethods
	Role any `json:"role"`
}

// strict reads role assignments as the clients up to permit-golang 1.2.6 do.
func strict(address, key string) {
	permits := client(address, key, plain)
	schema(permits.Api)
	facts(permits.Api)
	list := address + "/v2/facts/default/default/role_assignments"
	readStrictly[assignment]("RoleAssignmentRead", list, key)
	readStrictly[detailedAssignment]("RoleAssignmentDetailedRead", list+"?detailed=true", key)
}

func readStrictly[Record any](name, address, key string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		note(name, err.Error())
		return
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		note(name, err.Error())
		return
	}
	defer response.Body.Close()
	var records []Record
	decoder := json.NewDecoder(response.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&records); err != nil {
		note(name, err.Error())
	} else if len(records) < 2 {
		note(name, fmt.Sprintf("expected several role assignments, got %d", len(records)))
	} else {
		note(name, works)
	}
}
