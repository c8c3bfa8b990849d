package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// fingerprint is equal for equal values and differs for others.
func fingerprint(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		writeCanonical(h, v)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeCanonical writes a decoded value so that no two different ones are written alike.
func writeCanonical(w io.Writer, x any) {
	switch v := x.(type) {
	case map[string]any:
		fmt.Fprintf(w, "table %d\n", len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(w, "%q = ", key)
			writeCanonical(w, v[key])
		}
	case []map[string]any:
		fmt.Fprintf(w, "array %d\n", len(v))
		for _, element := range v {
			writeCanonical(w, element)
		}
	case []any:
		fmt.Fprintf(w, "array %d\n", len(v))
		for _, element := range v {
			writeCanonical(w, element)
		}
	case string:
		fmt.Fprintf(w, "%q\n", v)
	default:
		fmt.Fprintf(w, "%T %v\n", v, v)
	}
}
