package capture

// maxHeaders, maxHeaderName and maxHeaderBytes bound the headers that are kept of
// one request or response.
const (
	maxHeaders     = 256
	maxHeaderName  = 1 << 10
	maxHeaderBytes = 16 << 10 // bytes of a value
)

type networkRequestData struct {
	RequestID        string            `json:"request_id"`
	Method           string            `json:"method"`
	URL              string            `json:"url"`
	Headers          map[string]string `json:"headers"`
	PostData         string            `json:"post_data,omitempty"`
	ResourceType     string            `json:"resource_type"`
	Initiator        *initiatorData    `json:"initiator,omitempty"`
	RedirectedFrom   string            `json:"redirected_from,omitempty"`
	RedirectResponse *redirectData     `json:"redirect_response,omitempty"`
}

type initiatorData struct {
	Type   string `json:"type"`
	URL    string `json:"url,omitempty"`
	Line   int64  `json:"line,omitzero"`   // from 1
	Column int64  `json:"column,omitzero"` // from 1
}

// redirectData is the response that redirected a request.
type redirectData struct {
	Status     int64             `json:"status"`
	StatusText string            `json:"status_text"`
	Headers    map[string]string `json:"headers"`
}

type networkResponseData struct {
	RequestID    string            `json:"request_id"`
	Method       string            `json:"method"`
	Status       int64             `json:"status"`
	StatusText   string            `json:"status_text"`
	URL          string            `json:"url"`
	Headers      map[string]string `json:"headers"`
	MimeType     string            `json:"mime_type"`
	ResourceType string            `json:"resource_type"`
	Protocol     string            `json:"protocol,omitempty"`
	RemoteIP     string            `json:"remote_ip,omitempty"`
	Timing       *timingData       `json:"timing,omitempty"`
	FromCache    bool              `json:"from_cache"`
	Body         *string           `json:"body,omitempty"`
	BodySize     int64             `json:"body_size"`     // bytes after decoding
	TransferSize int64             `json:"transfer_size"` // bytes on the wire, headers included
}

type networkFailedData struct {
	RequestID    string `json:"request_id"`
	URL          string `json:"url"`
	ErrorText    string `json:"error_text"`
	Canceled     bool   `json:"canceled"`
	ResourceType string `json:"resource_type,omitempty"`
	Blocked      string `json:"blocked_reason,omitempty"`
}

// cdpResponse holds the needed fields of Network.Response.
type cdpResponse struct {
	URL           string     `json:"url"`
	Status        int64      `json:"status"`
	StatusText    string     `json:"statusText"`
	Headers       cdpHeaders `json:"headers"`
	MimeType      string     `json:"mimeType"`
	Protocol      string     `json:"protocol"`
	RemoteIP      string     `json:"remoteIPAddress"`
	FromDisk      bool       `json:"fromDiskCache"`
	FromPrefetch  bool       `json:"fromPrefetchCache"`
	Timing        *cdpTiming `json:"timing"`
	EncodedLength float64    `json:"encodedDataLength"`
}

// cdpHeaders holds names and values as JSON. Most headers of a request are
// reported twice, and only one report is decoded. All values are strings.
type cdpHeaders = jsonValue

// flatHeaders returns headers within the limits, and whether any were cut.
func flatHeaders(h cdpHeaders) (flat map[string]string, short bool) {
	if len(h) == 0 {
		return map[string]string{}, false
	}
	if decode(h, &flat) != nil || flat == nil {
		return map[string]string{}, true
	}
	for name, value := range flat {
		switch cutValue, did := cut(value, maxHeaderBytes); {
		case len(name) > maxHeaderName:
			delete(flat, name)
			short = true
		case did:
			flat[name] = cutValue
			short = true
		}
	}
	for name := range flat {
		if len(flat) <= maxHeaders {
			break
		}
		delete(flat, name)
		short = true
	}
	return flat, short
}
