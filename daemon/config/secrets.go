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
		if message := secretIn(name, values[name]); message != "" {
			s.failf(path, "%s", message)
			delete(values, name)
			continue
		}
		refuseSecretsBelow(s, path, values[name])
	}
}

func refuseSecretsBelow(s *scope, path string, x any) {
	switch v := x.(type) {
	case map[string]any:
		refuseSecrets(s, path, v)
	case []map[string]any:
		for i := range v {
			refuseSecrets(s, element(path, i), v[i])
		}
	case []any:
		for i := range v {
			refuseSecretsBelow(s, element(path, i), v[i])
		}
	}
}

// secretIn says what to do about a value that holds a secret.
func secretIn(name string, x any) string {
	if _, isTable := x.(map[string]any); isTable {
		return ""
	}
	text, _ := x.(string)
	instead := secretKeys[name]
	if name == "key" && strings.Contains(text, "PRIVATE KEY---") {
		instead = "key_file"
	}
	switch {
	case instead != "":
		return "must not stand in the configuration; put it into a file and name that with " + instead
	case (addressKeys[name] || strings.HasSuffix(name, "_url")) && hasPassword(text):
		return "must not hold a password; put it into a file and name that with a key that ends in _file"
	}
	return ""
}

var addressKeys = map[string]bool{"url": true, "host": true, "address": true, "endpoint": true}

// hasPassword tells whether text is a URL with one.
func hasPassword(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}
