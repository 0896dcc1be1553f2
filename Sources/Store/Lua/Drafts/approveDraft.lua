#!lua
-- KEYS draft, sent
-- ARGV version or '', now, id of the key that approves
-- use heldDraft
if held[2] then return {'sending', held[2]} end
local known = redis.call('HMGET', KEYS[1], 'e', 'a')
if known[1] == ARGV[3] then return {'own', held[1]} end
if known[2] ~= ARGV[3] then redis.call('HSET', KEYS[1], 'a', ARGV[3], 't', ARGV[2]) end
return {'done', held[1]}
