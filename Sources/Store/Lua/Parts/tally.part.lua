-- Counts outcomes at the moment they become final, by provider, outcome and app, in the hash that the last of KEYS
-- names: `tally(counter, count, app)` for whatever a counter of a message grows by, `settleTallies()` once when all is
-- written. `app`: false if it is not known. A worker takes them from there (`takeTallies`): nobody else counts ends.
local tallies = {}
local function tally(counter, count, app)
  local name = string.match(counter, '^k([^\1]*\1[^\1]*)')
  if not name then return end
  if app then name = name .. '\1' .. app end
  tallies[name] = (tallies[name] or 0) + tonumber(count)
end
local function settleTallies()
  for name, count in pairs(tallies) do
    redis.call('HINCRBY', KEYS[#KEYS], name, string.format('%d', count))
  end
end
