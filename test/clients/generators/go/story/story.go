// Package story makes the same calls with every generated Go client: a check, a bulk, a group with a member and
// a role, and a search in pages. Arguments of the programs: address, environment key.
package story

import (
	"encoding/json"
	"os"
)

// Question is a check on the document d1.
type Question struct{ User, Action string }

// Calls are the calls of a generated client. Search returns the documents of a page and the next token.
type Calls interface {
	Check(question Question) (bool, error)
	Bulk(questions []Question) ([]bool, error)
	CreateGroup(group, tenant string) error
	AddMember(group, user, tenant string) error
	AddRole(group, role, document, tenant string) error
	Search(user, token string) (ids []string, next string, err error)
}

type results struct {
	Check  bool       `json:"check"`
	Bulk   []bool     `json:"bulk"`
	Before bool       `json:"before"`
	After  bool       `json:"after"`
	Pages  [][]string `json:"pages"`
}

// Arguments of the program.
func Arguments() (address, key string) { return os.Args[1], os.Args[2] }

// Tell prints the results of the calls as JSON.
func Tell(calls Calls) {
	var all results
	var err error
	all.Check, err = calls.Check(Question{"alice", "read"})
	expect(err)
	all.Bulk, err = calls.Bulk([]Question{{"alice", "read"}, {"alice", "update"}})
	expect(err)
	all.Before, err = calls.Check(Question{"bob", "read"})
	expect(err)
	expect(calls.CreateGroup("staff", "default"))
	expect(calls.AddMember("staff", "bob", "default"))
	expect(calls.AddRole("staff", "viewer", "d1", "default"))
	all.After, err = calls.Check(Question{"bob", "read"})
	expect(err)
	for token, isLast := "", false; !isLast; isLast = token == "" {
		var ids []string
		ids, token, err = calls.Search("alice", token)
		expect(err)
		all.Pages = append(all.Pages, ids)
	}
	expect(json.NewEncoder(os.Stdout).Encode(all))
}

func expect(err error) {
	if err != nil {
		panic(err)
	}
}
