#!lua
-- KEYS draft, sent
-- ARGV version or '', now, message, name, id of the key that writes it
-- use heldDraft
if held[2] then return {'sending', held[2]} end
redis.call('HSET', KEYS[1], 'u', ARGV[2], 'b', ARGV[3], 'e', ARGV[5])
redis.call('HDEL', KEYS[1], 'a', 't', 'av')
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], 'n') else redis.call('HSET', KEYS[1], 'n', ARGV[4]) end
local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
redis.call('HSET', KEYS[1], 'ev', version)
return {'done', version}
