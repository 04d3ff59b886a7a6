package conn

import (
	"moka/sqlfront/account"
	"moka/sqlfront/mysqlproto"
)

// sha2 is caching_sha2_password:
//
//	client                                            server
//	  ── scramble of the password ─────────────────────▶
//	  ◀── 01 03 (it is right) ── OK                       the password was seen before
//	  ◀── 01 04 (send it) ──                              it was not
//	  ── password 00 ──────────────────────────────────▶  over TLS or a unix socket
//	  ── 02 (send your key) ───────────────────────────▶  else
//	  ◀── 01 public key, PEM ──
//	  ── RSA-OAEP(password 00 XOR salt) ───────────────▶
func (l *login) sha2(a *attempt) (account.Name, error) {
	u := l.accounts.Find(a.user, a.from)
	if u != nil && u.Plugin != mysqlproto.CachingSHA2 {
		u = nil
	}
	if len(a.answer) == 0 || len(a.answer) == 1 && a.answer[0] == 0 {
		return l.admit(a, u, u != nil && u.AuthString == "", false)
	}
	if u != nil && u.AuthString != "" && l.seen(u.AuthString, a.salt, a.answer) {
		who, err := l.admit(a, u, true, true)
		if err == nil {
			err = a.c.say([]byte{mysqlproto.HeaderMoreData, mysqlproto.SHA2FastDone})
		}
		return who, err
	}
	// An account that is not there goes through the same.
	if err := a.c.say([]byte{mysqlproto.HeaderMoreData, mysqlproto.SHA2SendAll}); err != nil {
		return account.Name{}, err
	}
	password, ok, err := l.password(a)
	if err != nil {
		return account.Name{}, err
	}
	stored := ""
	if u != nil {
		stored = u.AuthString
	}
	right := ok && l.verify(stored, password) && u != nil
	return l.admit(a, u, right, true)
}

// password receives the password itself.
func (l *login) password(a *attempt) (password string, ok bool, err error) {
	body, err := a.c.hear(maxLoginPacket)
	if err != nil {
		return "", false, err
	}
	if !a.c.private() {
		if len(body) == 1 && body[0] == mysqlproto.SHA2RequestKey {
			key, err := l.key.Public()
			if err != nil {
				return "", false, err
			}
			if err := a.c.say(append([]byte{mysqlproto.HeaderMoreData}, key...)); err != nil {
				return "", false, err
			}
			if body, err = a.c.hear(maxLoginPacket); err != nil {
				return "", false, err
			}
		}
		if body, ok = l.key.Decrypt(body, a.salt); !ok {
			return "", false, nil
		}
	}
	if len(body) == 0 || body[len(body)-1] != 0 {
		return "", false, nil
	}
	return string(body[:len(body)-1]), true, nil
}

// seen compares a scramble with a password that was right before.
func (l *login) seen(stored string, salt, answer []byte) bool {
	l.mu.Lock()
	known, ok := l.scrambled[stored]
	l.mu.Unlock()
	return ok && mysqlproto.VerifySHA2(answer, salt, known[:])
}
