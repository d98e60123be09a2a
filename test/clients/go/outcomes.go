package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
)

const works = "works"

// outcomes contains for each `object.method` the text "works" or the first error.
var outcomes = map[string]string{}

// note stores the first error of a method.
func note(name string, fault string) {
	if before, noted := outcomes[name]; noted && before != works {
		return
	}
	if len(fault) > 400 {
		fault = fault[:400]
	}
	outcomes[name] = fault
}

// method is the name of a method of the client.
type method string

// answer is the result of a method. Its checks note unexpected results.
type answer struct {
	name  method
	value any
	ok    bool
}

// got notes the outcome of a call with a result.
func (name method) got(value any, err error) answer {
	return answer{name, value, name.did(err)}
}

// did notes the outcome of a call without a result.
func (name method) did(err error) bool {
	if err != nil {
		note(string(name), err.Error())
		return false
	}
	note(string(name), works)
	return true
}

func (a answer) wants(what string, expected bool) {
	if a.ok && !expected {
		shown, _ := json.Marshal(a.value)
		note(string(a.name), fmt.Sprintf("expected %s, got %s", what, shown))
	}
}

// key expects an object with this key.
func (a answer) key(expected string) answer {
	keyed, isKeyed := a.value.(interface{ GetKey() string })
	a.wants("the key "+expected, !a.ok || isKeyed && keyed.GetKey() == expected)
	return a
}

// count expects a list, or a pointer to one, of this length.
func (a answer) count(expected int) answer {
	if a.ok {
		a.wants(fmt.Sprintf("%d entries", expected), reflect.Indirect(reflect.ValueOf(a.value)).Len() == expected)
	}
	return a
}

// equals expects this value.
func (a answer) equals(expected any) answer {
	a.wants(fmt.Sprintf("%v", expected), reflect.DeepEqual(a.value, expected))
	return a
}

// has expects a text in the JSON of the result.
func (a answer) has(text string) answer {
	shown, _ := json.Marshal(a.value)
	a.wants(text, strings.Contains(string(shown), text))
	return a
}

// id returns the id of the result, or an empty text.
func (a answer) id() string {
	if identified, is := a.value.(interface{ GetId() string }); is && a.ok {
		return identified.GetId()
	}
	return ""
}

// expectAll notes every exported method of the objects that was not called.
func expectAll(objects map[string]any) {
	for name, object := range objects {
		kind := reflect.TypeOf(object)
		for index := range kind.NumMethod() {
			full := name + "." + kind.Method(index).Name
			if _, called := outcomes[full]; !called {
				outcomes[full] = "not called"
			}
		}
	}
}

func printOutcomes() {
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		panic(err)
	}
}
