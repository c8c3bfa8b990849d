package httpclient

import (
	"errors"

	"github.com/hpad/hpad/internal/options"
)

// Open decodes a table into a driver's options, of which o is the embedded part, and makes the
// client. All mistakes are in the error, each key's first one only.
func Open(table options.Table, driver any, o *Options) (*Client, error) {
	decoded := table.Decode(driver)
	if decoded == nil {
		return New(*o)
	}
	told := map[string]bool{}
	all := options.Split(decoded)
	for _, err := range all {
		var k *options.KeyError
		if errors.As(err, &k) {
			told[k.Key], told[k.Meant] = true, true
		}
	}
	for _, err := range options.Split(o.Check()) {
		if key, _ := options.Key(err); !told[key] {
			all = append(all, err)
		}
	}
	return nil, errors.Join(all...)
}
