package web

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"takeover/door/commands"
	"takeover/door/viewer"
	"takeover/web/apidoc"
)

// asyncAPI describes the messages of the viewer's socket and of the command socket as
// an AsyncAPI 3.0 document.
func asyncAPI(version string) ([]byte, error) {
	g := apidoc.NewSchemas()
	messages, ofViewer, ofCommands := object{}, object{}, object{}
	var received, sent []object
	// in lists a message of a channel and returns the reference that an operation needs.
	in := func(channel string, ofChannel object, id string, message object) object {
		messages[id] = message
		ofChannel[id] = object{"$ref": "#/components/messages/" + id}
		return object{"$ref": "#/channels/" + channel + "/messages/" + id}
	}
	add := func(id string, message object) object { return in("viewer", ofViewer, id, message) }
	for _, kind := range slices.Sorted(maps.Keys(viewer.Received)) {
		m := viewer.Received[kind]
		// The server takes a message whose fields are missing.
		received = append(received, add("fromClient."+kind, object{
			"name": kind, "summary": m.Does, "description": "Needs role " + rolesFrom(m.Role) + ".",
			"payload": messageSchema(g, kind, m.Empty, false),
		}))
	}
	for _, kind := range slices.Sorted(maps.Keys(viewer.Sent)) {
		m := viewer.Sent[kind]
		sent = append(sent, add("fromServer."+kind, object{"name": kind, "summary": m.Does, "payload": messageSchema(g, kind, m.Empty, true)}))
	}
	sent = append(sent, add("fromServer.picture", object{
		"name": "picture", "summary": "A binary message: a header and a picture. docs/protocol.md describes the header.",
		"contentType": "application/octet-stream", "payload": object{"type": "string", "format": "binary"},
	}))
	ofProgram := map[string][]object{}
	for _, m := range commandMessages {
		message := object{"name": m.kind, "summary": m.does, "payload": commandSchema(g, m)}
		ofProgram[m.operation] = append(ofProgram[m.operation], in("commands", ofCommands, m.operation+"."+m.kind, message))
	}
	components, err := g.Components()
	if err != nil {
		return nil, err
	}
	people, program := object{"$ref": "#/channels/viewer"}, object{"$ref": "#/channels/commands"}
	parameters := object{"id": object{"description": "The session's id."}}
	bindings := object{"ws": object{"method": "GET", "bindingVersion": "0.1.0"}}
	doc := object{
		"asyncapi": "3.0.0",
		"info": object{
			"title": "Takeover's sockets", "version": version, "license": object{"name": "Apache-2.0"},
			"description": "What people's viewers, and programs that send commands, and the server say to each other. Text messages are JSON objects. The keys and cookies are those of /openapi.json.",
		},
		"defaultContentType": "application/json",
		"channels": object{
			"viewer": object{
				"address": "/v1/sessions/{id}/view", "title": "The viewer's socket",
				"description": "A WebSocket with the subprotocol " + viewer.Subprotocol + ". The first message is the client's hello.",
				"parameters":  parameters, "messages": ofViewer, "bindings": bindings,
			},
			"commands": object{
				"address": "/v1/sessions/{id}/commands", "title": "The command socket",
				"description": "A WebSocket on which a program calls members of Playwright's Page. Each command gets one answer, with its id.",
				"parameters":  parameters, "messages": ofCommands, "bindings": bindings,
			},
		},
		"operations": object{
			"fromClient":  object{"action": "receive", "channel": people, "summary": "What a viewer may send.", "messages": received},
			"fromServer":  object{"action": "send", "channel": people, "summary": "What the server sends to a viewer.", "messages": sent},
			fromProgram:   object{"action": "receive", "channel": program, "summary": "What a program may send.", "messages": ofProgram[fromProgram]},
			answerProgram: object{"action": "send", "channel": program, "summary": "What the server answers.", "messages": ofProgram[answerProgram]},
		},
		"components": object{"messages": messages, "schemas": components},
	}
	return json.MarshalIndent(doc, "", " ")
}

// messageSchema describes a text message. complete means that it has all fields but the
// optional ones.
func messageSchema(g *apidoc.Schemas, kind string, empty any, complete bool) object {
	props, always := g.Properties(reflect.TypeOf(empty))
	props["type"] = object{"const": kind}
	required := []string{"type"}
	for _, name := range always {
		if complete && name != "type" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": props, "required": required}
}

// Operations of the command socket.
const fromProgram, answerProgram = "commandsFromClient", "commandsFromServer"

// commandMessage is a message of the command socket.
type commandMessage struct {
	operation, kind, does string
	message               any
	required              []string // beside the type
	without               []string // fields that the message never has
}

// commandMessages are the messages of the command socket.
var commandMessages = []commandMessage{
	{fromProgram, "command", "Calls a member of Page, or a chain of members.", commands.Message{}, []string{"commandId", "method"}, nil},
	{answerProgram, "commandResult", "The answer to a command: its result or, if it failed, the error.", commands.Answer{}, []string{"commandId"}, nil},
	{answerProgram, "error", "The answer to a message whose command id cannot be read.", commands.Answer{}, []string{"error"}, []string{"commandId", "result"}},
}

// commandSchema describes a message of the command socket. What a program sends may
// have no further fields.
func commandSchema(g *apidoc.Schemas, m commandMessage) object {
	payload := messageSchema(g, m.kind, m.message, false)
	props, _ := payload["properties"].(object)
	for _, name := range m.without {
		delete(props, name)
	}
	payload["required"] = append([]string{"type"}, m.required...)
	if m.operation == fromProgram {
		chain := object{"type": "array", "items": g.Of(reflect.TypeFor[commands.Link]()), "minItems": 1, "maxItems": commands.MaxLinks}
		method, _ := props["method"].(object)
		method["oneOf"] = []object{{"type": "string", "minLength": 1}, chain}
		args, _ := props["args"].(object)
		args["type"] = "array"
		payload["additionalProperties"] = false
	}
	return payload
}
