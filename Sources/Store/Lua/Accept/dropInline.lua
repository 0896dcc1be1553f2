#!lua flags=allow-oom
-- Inline messages that cannot be read are quarantined: nothing of them is known.
-- KEYS lease, inline messages, odd
-- ARGV owner, raw ids…
-- use owner
return redis.call('INCRBY', KEYS[3], redis.call('HDEL', KEYS[2], unpack(ARGV, 2)))
