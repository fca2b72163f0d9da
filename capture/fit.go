package capture

import "encoding/json"

const (
	// maxURLBytes is the longest URL an event carries; longer ones are cut.
	maxURLBytes = 32 << 10
	// maxIDBytes bounds the ids, which are Chromium's and some 32 bytes long.
	maxIDBytes = 256
)

// fit cuts an event down to MaxEventBytes. The mappings keep their own limits,
// so this is for what JSON's escapes blow up and for callers' own events.
func (e *Event) fit() {
	for _, id := range []*string{&e.CaptureSessionID, &e.Type, &e.Category, &e.TargetID, &e.CDPSessionID, &e.FrameID, &e.ParentFrameID} {
		*id, _ = cut(*id, maxIDBytes)
	}
	if short, did := cut(e.URL, maxURLBytes); did {
		e.URL, e.Truncated = short, true
	}
	// Every byte outside data is at most six in JSON.
	const around = 6*(maxURLBytes+7*maxIDBytes) + 512
	if len(e.Data) <= MaxEventBytes-around || len(e.JSON()) <= MaxEventBytes {
		return
	}
	e.Data = shrink(e.Data, MaxEventBytes-around)
	e.Truncated = true
}

// shrink cuts the strings and lists of a JSON object until it fits: the longest
// ones first, because those are what made it large.
func shrink(data json.RawMessage, limit int) json.RawMessage {
	var v any
	if decode(data, &v) != nil {
		return json.RawMessage(`{}`)
	}
	for longest := limit / 2; longest >= 16; longest /= 2 {
		v = clip(v, longest)
		if raw, err := encode(v); err == nil && len(raw) <= limit {
			return raw
		}
	}
	return json.RawMessage(`{}`)
}

// clip cuts strings to longest bytes, and lists and objects to as many members.
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
		members := 0
		for key, value := range v {
			if members++; members > longest || len(key) > longest {
				delete(v, key)
				continue
			}
			v[key] = clip(value, longest)
		}
		return v
	}
	return v
}
