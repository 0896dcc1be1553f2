/// What a process has read of the registry of devices, and what it has not told its callers yet. Belongs to the loop of its
/// session. It may be out of date; `shelf` is emptied when the connection is lost.
final class RegistryMemory {
  var shelf = WordShelf()
  var tagListing: TagListing?
  var untold = Untold()
  // Tests have fewer tags and devices.
  var tagListingLimit = TagListing.longest
  var devicesPerStep = DeviceRegistry.usualStep
}
