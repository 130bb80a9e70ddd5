-- The table of messages as programs of others make it, who never heard of team-console.
CREATE TABLE agent_message (
    message_id TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    message_type TEXT,
    payload JSON,
    status TEXT,
    created_at TIMESTAMP,
    delivered_at TIMESTAMP,
    retry_count INTEGER DEFAULT 0,
    max_retries INTEGER DEFAULT 3,
    error_message TEXT
)
