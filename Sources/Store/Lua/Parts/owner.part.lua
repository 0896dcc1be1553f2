-- Only for the owner of the lease, in the history that granted it (design D5).
-- use fence
local refused = refusal()
if refused then return refused end
