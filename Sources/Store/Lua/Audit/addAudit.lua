#!lua flags=allow-oom
-- Adds entries to a trail, in one entry of its stream, and lets the oldest beyond the bound go. `n` of an entry of the
-- stream is the number of its last one, counted from the beginning of the trail.
-- KEYS trail, acts at work
-- ARGV the mark of the act that has ended ('': none), 1: only if it is still at work, how many, packed entries, most
-- entries of the trail, the time before which they may go, milliseconds they are kept
-- → 1, or 0: somebody else has ended it, and nothing was added
local trail = KEYS[1]
local known = redis.call('HDEL', KEYS[2], ARGV[1])
if known == 0 and ARGV[2] == '1' then return 0 end
local number = tonumber(ARGV[3])
local last = redis.call('XREVRANGE', trail, '+', '-', 'COUNT', 1)[1]
if last then number = number + tonumber(last[2][2]) end
redis.call('XADD', trail, 'MINID', '~', ARGV[6], '*', 'n', string.format('%.0f', number), 'b', ARGV[4])
-- One at a time: an entry of sends has some ten thousand bytes, and mostly none goes.
for _ = 1, 64 do
  local entry = redis.call('XRANGE', trail, '-', '+', 'COUNT', 1)[1]
  if tonumber(entry[2][2]) > number - tonumber(ARGV[5]) then break end
  redis.call('XDEL', trail, entry[1])
end
redis.call('PEXPIRE', trail, ARGV[7])
return 1
