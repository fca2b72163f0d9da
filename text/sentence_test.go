package text_test

import (
	"testing"

	"takeover/text"
)

// TestSentence checks the punctuation of sentences. A question or an exclamation
// keeps its own mark.
func TestSentence(t *testing.T) {
	for words, want := range map[string]string{
		"": "", "no such session": "No such session.", "It ended.": "It ended.", "until: is it this?": "until: is it this?",
	} {
		if got := text.Sentence(words); got != want {
			t.Errorf("%q gives %q, want %q", words, got, want)
		}
	}
}
