#!lua flags=allow-oom
-- KEYS idempotency
-- ARGV raw id, 'd' done or 'u' not confirmed by replicas: what a repeat has to ask for once more
if redis.call('HGET', KEYS[1], 'id') == ARGV[1] then redis.call('HSET', KEYS[1], 'st', ARGV[2]) end
return 1
