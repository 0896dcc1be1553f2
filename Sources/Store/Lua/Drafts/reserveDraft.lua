#!lua
-- KEYS draft, sent
-- ARGV version, raw id of the message
-- use heldDraft
if held[2] then return {'sending', held[2]} end
redis.call('HSET', KEYS[1], 'm', ARGV[2])
return {'done', held[1]}
