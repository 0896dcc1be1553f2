#!lua
-- KEYS draft, sent
-- ARGV version, now, id of the key that approves
-- use heldDraft
if held[2] then return {'sending', held[2]} end
local known = redis.call('HMGET', KEYS[1], 'e', 'ev', 'a', 'av')
if known[1] == ARGV[3] and known[2] == held[1] then return {'own', held[1]} end
if known[3] ~= ARGV[3] or known[4] ~= held[1] then
  redis.call('HSET', KEYS[1], 'a', ARGV[3], 't', ARGV[2], 'av', held[1])
end
return {'done', held[1]}
