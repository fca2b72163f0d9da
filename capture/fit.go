package capture

import (
	"encoding/json"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
)

const (
	// maxURLBytes is the longest URL in an event. Longer ones are cut.
	maxURLBytes = 32 << 10
	// maxIDBytes bounds ids. Chromium's ids have about 32 bytes.
	maxIDBytes = 256
)

// fit cuts an event to MaxEventBytes. The mappings have limits of their own, so
// this affects only text that grows through JSON escapes, and events of callers.
func (e *Event) fit() {
	for _, id := range []*string{&e.CaptureSessionID, &e.Type, &e.Category, &e.TargetID, &e.CDPSessionID, &e.FrameID, &e.ParentFrameID} {
		*id, _ = cut(*id, maxIDBytes)
	}
	if short, did := cut(e.URL, maxURLBytes); did {
		e.URL, e.Truncated = short, true
	}
	// Each byte outside data takes at most six bytes in JSON.
	const around = 6*(maxURLBytes+7*maxIDBytes) + 512
	if len(e.Data) <= MaxEventBytes-around || len(e.JSON()) <= MaxEventBytes {
		return
	}
	e.Data = shrink(e.Data, required[e.Type], MaxEventBytes-around)
	e.Truncated = true
}

// shortest is the smallest length to which strings, lists and objects are cut. If
// that is not enough, all members except the required ones are dropped.
const shortest = 16

// shrink cuts the strings, lists and objects of a JSON object until it fits. It
// starts with the longest, because they made the object large. Required members
// stay. The same data is always cut in the same way.
func shrink(data json.RawMessage, required []string, limit int) json.RawMessage {
	var members map[string]any
	if decode(data, &members) != nil {
		return json.RawMessage(`{}`)
	}
	for longest := limit / 2; longest >= shortest; longest /= 2 {
		clipObject(members, required, longest)
		if raw, err := encodeSorted(members); err == nil && len(raw) <= limit {
			return raw
		}
	}
	clipObject(members, required, 0)
	raw, err := encodeSorted(members)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// encodeSorted is like encode, but sorts the members of objects by name.
func encodeSorted(data any) (json.RawMessage, error) {
	return jsonv2.Marshal(data, lenient, jsonv2.Deterministic(true))
}

// clip cuts strings to longest bytes, and lists and objects to longest members.
func clip(v any, longest int) any {
	switch v := v.(type) {
	case string:
		v, _ = cut(v, longest)
		return v
	case []any:
		if len(v) > longest {
			v = v[:longest]
		}
		for i := range v {
			v[i] = clip(v[i], longest)
		}
		return v
	case map[string]any:
		clipObject(v, nil, longest)
		return v
	}
	return v
}

// clipObject cuts an object's members and drops those with too long names. If
// there are too many members, it keeps the ones in keep, and then the first by
// name.
func clipObject(members map[string]any, keep []string, longest int) {
	room := longest
	for _, name := range keep {
		if value, ok := members[name]; ok {
			members[name] = clip(value, max(longest, shortestKept(value)))
			room--
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch {
		case slices.Contains(keep, name):
		case room <= 0 || len(name) > longest:
			delete(members, name)
		default:
			members[name] = clip(members[name], longest)
			room--
		}
	}
}

// shortestKept returns the smallest length to which a required member is cut:
// text stays readable, lists and objects may become empty.
func shortestKept(value any) int {
	if _, ok := value.(string); ok {
		return shortest
	}
	return 0
}
