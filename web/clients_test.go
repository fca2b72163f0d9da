package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var updateClients = flag.Bool("update", false, "write the document from which the clients are generated")

// clientsFile is the document from which the clients are generated.
const clientsFile = "../clients/openapi.json"

// TestClientsDocument compares clients/openapi.json with what the server serves,
// apart from the version, which differs with each commit.
func TestClientsDocument(t *testing.T) {
	s := startServer(t, nil)
	var doc map[string]any
	s.call("GET", "/openapi.json", nil, 200, &doc)
	doc["info"].(map[string]any)["version"] = "0"
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		t.Fatal(err)
	}
	if *updateClients {
		if err := os.WriteFile(clientsFile, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(clientsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is stale: run make generate", clientsFile)
	}
}
