package automation

import (
	"encoding/base64"
	"encoding/json"
)

// carriesContent lists the parameters of operations, at any depth, with which a
// script gives content to a page or a server: text that it enters, sends or
// compares with. Other parameters select something: a target, a state, a button.
var carriesContent = map[string]bool{
	"value": true, "text": true, "key": true, "options": true, // for entering and for choosing values
	"arg": true, "eventInit": true, "expectedText": true, "expectedValue": true,
	"buffer": true, "data": true, // of files
	"html": true, "content": true, "body": true, "postData": true,
	"username": true, "password": true,
}

// Contents returns the texts in an operation's parameters that are content. An
// error may quote them, although they may be secrets.
func Contents(params json.RawMessage) []string {
	var given any
	_ = json.Unmarshal(params, &given) // the operation itself refuses bad parameters
	return contentsOf(given, false, nil)
}

// contentsOf appends the content texts in a decoded value to a list. inside means
// that the value itself is content.
func contentsOf(value any, inside bool, list []string) []string {
	switch value := value.(type) {
	case string:
		if !inside {
			return list
		}
		if file, err := base64.StdEncoding.DecodeString(value); err == nil { // files and bodies are base64
			list = append(list, string(file))
		}
		return append(list, value)
	case []any:
		for _, one := range value {
			list = contentsOf(one, inside, list)
		}
	case map[string]any:
		for name, one := range value {
			if _, plain := one.(string); plain && (name == "v" || name == "k") {
				continue // markers such as "undefined", and names of properties; see page/serialize.ts
			}
			list = contentsOf(one, inside || carriesContent[name], list)
		}
	}
	return list
}
