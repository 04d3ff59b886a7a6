package conn

import (
	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// A client that has said SET NAMES latin1, or another set that is not Unicode's, sends and gets texts in
// it. They are translated here, at the edge: a statement before anything looks for quotes in it (the
// second byte of a character of gbk or sjis may be one), the values of a prepared one, then rows, names of
// columns and messages.
//
// What a client says in its handshake alone is not taken at its word (see greeter), unless it is a set
// whose characters may have a quote or a backslash for a byte: by the set the client's library knows what
// it need not escape, and texts of strangers would end where that byte is.

// codec is the codec that a variable of the session names.
func (c *Connection) codec(variable string) *charset.Codec {
	if c.session == nil {
		return nil
	}
	v, err := c.session.GetSessionVariable(nil, variable)
	if err != nil {
		return nil
	}
	name, _ := v.(string)
	codec, _ := charset.Of(name) // SET refuses what is unknown
	return codec
}

// decode returns a statement in UTF-8. What is left of a text of several statements comes again, decoded.
func (c *Connection) decode(query string) string {
	codec := c.limit().client
	if codec == nil || query == c.statement {
		return query
	}
	return codec.Decode(query)
}

// encodeError gives the client a message in its character set.
func (c *Connection) encodeError(e *sqlerr.Error) *sqlerr.Error {
	results := c.limit().results
	if results == nil {
		return e
	}
	encoded := *e
	encoded.Message = string(results.Encode([]byte(e.Message)))
	return &encoded
}
