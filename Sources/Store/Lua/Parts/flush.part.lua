-- How a flush begins: whether it is new, and what of it was pruned. ARGV[2…5] number, chunk, retention, pruned; the
-- lease remembers the last one. `member` names a delivery in the retry set.
local number, chunk = tonumber(ARGV[2]), tonumber(ARGV[3])
local last = redis.call('HMGET', KEYS[1], 'f', 'c', 'p')
local lastNumber, lastChunk = tonumber(last[1] or 0), tonumber(last[2] or 0)
local pruned = tonumber(ARGV[5])
local fresh = true
if number > 0 then
  fresh = number > lastNumber or (number == lastNumber and chunk > lastChunk)
  if number == lastNumber and pruned < tonumber(last[3] or 0) then pruned = tonumber(last[3] or 0) end
end
local function member(id, index) return id .. struct.pack('>I4', tonumber(index)) end
-- The attempts that a record holds.
local function earlier(record)
  return record and #record > 2 and string.sub(record, 4 + struct.unpack('>I2', record, 2)) or ''
end
-- What is written where `old` stood: who tells some attempts tells all.
local function resumed(old, record) return old and earlier(record) == '' and record .. earlier(old) or record end
