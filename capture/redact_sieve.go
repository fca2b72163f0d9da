package capture

import "unicode/utf8"

const (
	smallSieve = 1024    // bits of the sieve of a short text
	largeSieve = 1 << 16 // bits of the sieve of another text
	shortText  = 512     // bytes of the longest text with a small sieve
)

// sieve tells quickly that a text cannot have most secrets. It knows which pairs of
// ASCII characters stand beside each other in the text, in upper or lower case.
type sieve struct {
	small [smallSieve / 64]uint64
	large []uint64 // nil for a short text
}

// read adds the pairs of a text.
func (v *sieve) read(s string) {
	bits, shift := v.small[:], uint(32-10)
	if len(s) > shortText {
		v.large = make([]uint64, largeSieve/64)
		bits, shift = v.large, 32-16
	}
	before := uint32(0)
	for i := range len(s) {
		c := uint32(lowerOf[s[i]])
		bit := (before<<8 | c) * pairFactor >> shift
		bits[bit>>6] |= 1 << (bit & 63)
		before = c
	}
}

// pairFactor spreads pairs over the bits of a sieve.
const pairFactor = 0x9E3779B1

// passes reports whether the text may have a form of a secret.
func passes[T string | []byte](v *sieve, form T) bool {
	bits, shift := v.small[:], uint(32-10)
	if v.large != nil {
		bits, shift = v.large, 32-16
	}
	for i := 1; i < len(form); i++ {
		if form[i-1] >= utf8.RuneSelf || form[i] >= utf8.RuneSelf {
			continue
		}
		bit := (uint32(lowerOf[form[i-1]])<<8 | uint32(lowerOf[form[i]])) * pairFactor >> shift
		if bits[bit>>6]&(1<<(bit&63)) == 0 {
			return false
		}
	}
	return true
}
