package web

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// asyncAPI describes the messages of the viewer's socket as an AsyncAPI 3.0 document.
func asyncAPI(version string) ([]byte, error) {
	g := &specGenerator{schemas: object{}, types: map[string]reflect.Type{}}
	messages, ofChannel := object{}, object{}
	var received, sent []object
	// add lists a message and returns the reference that an operation needs.
	add := func(id string, message object) object {
		messages[id] = message
		ofChannel[id] = object{"$ref": "#/components/messages/" + id}
		return object{"$ref": "#/channels/viewer/messages/" + id}
	}
	for _, kind := range slices.Sorted(maps.Keys(viewerMessages)) {
		m := viewerMessages[kind]
		// The server takes a message whose fields are missing.
		received = append(received, add("fromClient."+kind, object{
			"name": kind, "summary": m.does, "description": "Needs role " + rolesFrom(m.role) + ".",
			"payload": g.message(kind, m.message, false),
		}))
	}
	for _, kind := range slices.Sorted(maps.Keys(serverMessages)) {
		m := serverMessages[kind]
		sent = append(sent, add("fromServer."+kind, object{"name": kind, "summary": m.does, "payload": g.message(kind, m.message, true)}))
	}
	sent = append(sent, add("fromServer.picture", object{
		"name": "picture", "summary": "A binary message: a header and a picture. docs/protocol.md describes the header.",
		"contentType": "application/octet-stream", "payload": object{"type": "string", "format": "binary"},
	}))
	if g.clash != nil {
		return nil, g.clash
	}
	channel := object{"$ref": "#/channels/viewer"}
	doc := object{
		"asyncapi": "3.0.0",
		"info": object{
			"title": "Takeover's viewer socket", "version": version, "license": object{"name": "Apache-2.0"},
			"description": "What people's viewers and the server say to each other. Text messages are JSON objects. The keys and cookies are those of /openapi.json.",
		},
		"defaultContentType": "application/json",
		"channels": object{"viewer": object{
			"address": "/v1/sessions/{id}/view", "title": "The viewer's socket",
			"description": "A WebSocket with the subprotocol " + subprotocol + ". The first message is the client's hello.",
			"parameters":  object{"id": object{"description": "The session's id."}},
			"messages":    ofChannel,
			"bindings":    object{"ws": object{"method": "GET", "bindingVersion": "0.1.0"}},
		}},
		"operations": object{
			"fromClient": object{"action": "receive", "channel": channel, "summary": "What a viewer may send.", "messages": received},
			"fromServer": object{"action": "send", "channel": channel, "summary": "What the server sends.", "messages": sent},
		},
		"components": object{"messages": messages, "schemas": g.schemas},
	}
	return json.MarshalIndent(doc, "", " ")
}

// message describes a text message. complete means that it has all fields but the
// optional ones.
func (g *specGenerator) message(kind string, empty any, complete bool) object {
	props, always := g.properties(reflect.TypeOf(empty))
	props["type"] = object{"const": kind}
	required := []string{"type"}
	for _, name := range always {
		if complete && name != "type" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": props, "required": required}
}
