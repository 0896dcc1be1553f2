#!lua flags=allow-oom
-- Entries behind a place, until there are so many jobs in them; of an entry of inline messages the values of those
-- that are still inline messages. Asks for a wakeup when there are no more entries.
-- KEYS lease, stream, waiting, inline messages
-- ARGV owner, from, count, name of the stream
-- → entries, and an array of values for each entry of inline messages
-- use owner
local count, from = tonumber(ARGV[3]), ARGV[2]
local found, inline, jobs = {}, {}, 0
while jobs < count do
  -- An entry of inline messages is many jobs: more of them than are needed cost as much as all else here.
  local step = math.min(count - jobs, 8)
  local some = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', step)
  for i = 1, #some do
    if jobs >= count then break end
    local fields = some[i][2]
    found[#found + 1] = some[i]
    if fields[1] == 's' then
      local row, ids = fields[2], {}
      for at = 1, #row - 15, 16 do ids[#ids + 1] = string.sub(row, at, at + 15) end
      inline[#inline + 1] = #ids > 0 and redis.call('HMGET', KEYS[4], unpack(ids)) or {}
      jobs = jobs + #ids
    else
      jobs = jobs + 1
    end
  end
  if #some < step then
    if jobs < count then redis.call('SADD', KEYS[3], ARGV[4]) end
    break
  end
  from = '(' .. some[#some][1]
end
return {found, inline}
