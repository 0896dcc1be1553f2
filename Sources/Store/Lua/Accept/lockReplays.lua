#!lua
-- One replay of a message is made at a time. The field without a name says whose mark it is, and until when.
-- KEYS replays
-- ARGV mark, milliseconds, seconds for which it is kept
-- → 0: another one is being made; or what was noted of replays: (raw id, range)…
-- use clock
local held = redis.call('HGET', KEYS[1], '')
if held and tonumber(string.match(held, '%d+$')) > tonumber(now()) then return 0 end
local noted = redis.call('HGETALL', KEYS[1])
redis.call('HSET', KEYS[1], '', ARGV[1] .. ' ' .. string.format('%.0f', now() + ARGV[2]))
redis.call('EXPIRE', KEYS[1], ARGV[3], 'NX')
redis.call('EXPIRE', KEYS[1], ARGV[3], 'GT')
return noted
