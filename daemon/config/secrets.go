package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// secretKeys are keys under which nothing but a secret can stand, and what to use instead.
var secretKeys = map[string]string{
	"password":      "password_file",
	"token":         "token_file",
	"secret":        "secret_file",
	"secret_key":    "secret_key_file",
	"secrets":       "files",
	"bearer_token":  "bearer_token_file",
	"credentials":   "credentials_file",
	"client_secret": "client_secret_file",
}

// refuseSecrets tells of secrets in a driver's table, at any depth, and takes them out so that no
// later message can show them.
func refuseSecrets(s *scope, key string, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := options.JoinKey(key, options.Quote(name))
		instead, secret := secretKeys[name]
		if name == "key" && strings.Contains(textOf(values[name]), "PRIVATE KEY---") {
			instead, secret = "key_file", true
		}
		switch v := values[name].(type) {
		case map[string]any:
			refuseSecrets(s, path, v)
			continue
		case []map[string]any:
			for i := range v {
				refuseSecrets(s, element(path, i), v[i])
			}
			continue
		case string:
			if hasPassword(v) {
				s.failf(path, "must not hold a password; put it into a file and name that with a key that ends in _file")
				delete(values, name)
				continue
			}
		}
		if secret {
			s.failf(path, "must not stand in the configuration; put it into a file and name that with %s", instead)
			delete(values, name)
		}
	}
}

func textOf(x any) string {
	text, _ := x.(string)
	return text
}

// hasPassword tells whether text is a URL with one.
func hasPassword(text string) bool {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}
