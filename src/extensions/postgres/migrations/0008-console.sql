-- The people of the console. There are no passwords: a one-time link opens a session. `projects` null: all of them.
CREATE TABLE sluice.people (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('viewer', 'editor', 'admin')),
  projects text[],
  sees_content bool NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (role <> 'admin' OR (projects IS NULL AND sees_content))
);

-- `hash` is the SHA-256 of the token, here and below. A link is deleted when it is used.
CREATE TABLE sluice.console_links (
  hash bytea PRIMARY KEY,
  person text NOT NULL REFERENCES sluice.people (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX console_links_person ON sluice.console_links (person);

CREATE TABLE sluice.console_sessions (
  hash bytea PRIMARY KEY,
  id text NOT NULL UNIQUE,
  person text NOT NULL REFERENCES sluice.people (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  address text,
  agent text
);
CREATE INDEX console_sessions_person ON sluice.console_sessions (person);

-- They read one project and write nothing.
CREATE TABLE sluice.read_tokens (
  public_id text PRIMARY KEY,
  project text NOT NULL REFERENCES sluice.projects (name) ON UPDATE CASCADE ON DELETE CASCADE,
  hash bytea NOT NULL,
  label text,
  sees_content bool NOT NULL DEFAULT false,
  created_by text REFERENCES sluice.people (id) ON DELETE SET NULL,
  creator text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  used_at timestamptz
);
CREATE INDEX read_tokens_project ON sluice.read_tokens (project);
CREATE INDEX read_tokens_created_by ON sluice.read_tokens (created_by);

-- Changes by the console and by the command line, each in the transaction of its change.
CREATE TABLE sluice.audit (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  changed_at timestamptz NOT NULL DEFAULT now(),
  person text,
  actor text NOT NULL,
  action text NOT NULL,
  project text,
  target text NOT NULL,
  details jsonb
);
CREATE INDEX audit_changed ON sluice.audit (changed_at);
