package httpclient

import (
	"errors"
	"strings"

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
	for i, err := range all {
		var k *options.KeyError
		if errors.As(err, &k) {
			told[k.Key], told[k.Meant] = true, true
			all[i] = withheld(k)
		}
	}
	for _, err := range options.Split(o.Check()) {
		if key, _ := options.Key(err); !told[key] {
			all = append(all, err)
		}
	}
	return nil, errors.Join(all...)
}

// withheld says of the keys of a scrape job that hold a secret why they are unknown here.
func withheld(k *options.KeyError) error {
	path := strings.Split(k.Key, ".")
	var instead string
	switch word := path[len(path)-1]; word {
	case "password", "credentials", "client_secret", "client_certificate_key", "bearer_token", "key":
		instead = word + "_file"
	case "secrets":
		instead = "files"
	default:
		return k
	}
	return options.Errorf(k.Key, "is a secret and must not stand here: write it to a file, and name that as %s", instead)
}
