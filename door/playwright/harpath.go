package playwright

import (
	"bytes"
	"encoding/json"
)

// harPath is the member of a message that names a HAR file on the client's machine.
const harPath = "harPath"

// maxHARMessage bounds the messages (bytes) in which that member is looked for, because
// taking a message apart needs several times its size. Clients' own have a few hundred.
const maxHARMessage = 1 << 20

// withoutHARPath removes that member. Playwright's server would write the file where the
// client wants it, but on its own machine, where the process may not. Without the path,
// it only sends the file, which the client then writes itself.
func withoutHARPath(message []byte) []byte {
	if len(message) > maxHARMessage || !bytes.Contains(message, []byte(`"`+harPath+`"`)) {
		return message
	}
	var whole, params, options map[string]json.RawMessage
	if json.Unmarshal(message, &whole) != nil || json.Unmarshal(whole["params"], &params) != nil || json.Unmarshal(params["options"], &options) != nil {
		return message // the words are somewhere else
	}
	if _, there := options[harPath]; !there {
		return message
	}
	delete(options, harPath)
	for _, part := range []struct {
		in   map[string]json.RawMessage
		name string
		set  map[string]json.RawMessage
	}{{params, "options", options}, {whole, "params", params}} {
		raw, err := json.Marshal(part.set)
		if err != nil {
			return message
		}
		part.in[part.name] = raw
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		return message
	}
	return raw
}
