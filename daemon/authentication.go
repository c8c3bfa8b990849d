package daemon

import (
	"os"

	"sigs.k8s.io/yaml"
)

// authenticates tells whether the web configuration lets only known clients in: by password, or by
// a certificate that is checked. It is read every time, as the web toolkit does. What cannot be
// read authenticates nobody.
func authenticates(webConfigFile string) bool {
	if webConfigFile == "" {
		return false
	}
	text, err := os.ReadFile(webConfigFile)
	if err != nil {
		return false
	}
	var c struct {
		Users map[string]string `json:"basic_auth_users"`
		TLS   struct {
			ClientAuth string `json:"client_auth_type"`
		} `json:"tls_server_config"`
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		return false
	}
	return len(c.Users) > 0 || c.TLS.ClientAuth == "RequireAndVerifyClientCert"
}
