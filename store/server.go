package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// serverIDFile is the file in the data directory that holds the server's id.
const serverIDFile = "server-id"

// ServerID reads the server's id from its data directory, or creates one at the
// first start. Each server writes under its id, because several may share one
// NATS.
func ServerID(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("open data directory: %w", err)
	}
	defer root.Close()
	raw, err := root.ReadFile(serverIDFile)
	if id := strings.TrimSpace(string(raw)); err == nil && len(id) == 24 && strings.Trim(id, "0123456789abcdef") == "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the server's id: %w", err)
	}
	b := make([]byte, 12)
	_, _ = rand.Read(b) // crypto/rand never fails
	id := hex.EncodeToString(b)
	if err := root.WriteFile(serverIDFile, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the server's id: %w", err)
	}
	return id, nil
}
